package notebook

import "testing"

// TestLabIsNeverOpen sees that no argument takes the token away where others can connect.
func TestLabIsNeverOpen(t *testing.T) {
	const everywhere, here = "0.0.0.0", "127.0.0.1"
	tests := []struct {
		ip        string
		arguments []string
		fails     bool
	}{
		{here, nil, false},
		{"::1", []string{"--IdentityProvider.token="}, false},
		{here, []string{"--IdentityProvider.token="}, false},
		{everywhere, nil, false},
		{everywhere, []string{"--IdentityProvider.token=secret", "--ServerApp.base_url=/x/"}, false},
		{everywhere, []string{"--ServerApp.base_url", "/x/", "--IdentityProvider.token", "secret"}, false},
		{everywhere, []string{"--IdentityProvider.token="}, true},
		{everywhere, []string{"--ServerApp.port=1", "--ServerApp.token=''"}, true},
		{everywhere, []string{"-PasswordIdentityProvider.token", ""}, true},
		{everywhere, []string{"--IdentityProvider.token"}, true},
		{"::", []string{`--NotebookApp.token=""`}, true},
		{"", nil, true},
		{"localhost", nil, true},
		{"1.2.3", nil, true},
	}
	for _, test := range tests {
		if err := (Lab{IP: test.ip, Arguments: test.arguments}).Check(); (err != nil) != test.fails {
			t.Errorf("ip %q, arguments %q: %v", test.ip, test.arguments, err)
		}
	}
}
