# Makes wine-sklearn.json. Written with scikit-learn 1.9.1, SciPy 1.17.1 and NumPy 2.4.6.
import json

import numpy as np
from scipy.special import logit
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import MinMaxScaler, StandardScaler

x = load_wine().data
rows = [0, 70, 177]
scaler = StandardScaler().fit(x)
u = scaler.transform(x)
pca = PCA().fit(u)
eigenvalues = pca.explained_variance_ * (len(x) - 1) / len(x)  # divisor n, not n-1
components = u @ pca.components_.T / np.sqrt(eigenvalues)
w, v = np.linalg.eigh(u.T @ u / len(x))
zca = u @ (v @ np.diag(w**-0.5) @ v.T)
unit = MinMaxScaler().fit_transform(x)
numbers = {
    "id": "wine",
    "rows": rows,
    "mean": scaler.mean_,
    "std": scaler.scale_,
    "standard": u[rows],
    "eigenvalues": eigenvalues,
    "pca": np.abs(components[rows]),
    "zca": zca[rows],
    "minmax": unit[rows],
    "logit": logit(0.05 + 0.9 * unit[rows]),
}
with open("wine-sklearn.json", "w") as f:
    f.write("{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v if k in ('id', 'rows') else v.tolist())}" for k, v in numbers.items()) + "\n}\n")
