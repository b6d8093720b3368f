package kde

var SizeOf = sizeOf
