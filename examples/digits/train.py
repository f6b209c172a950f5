#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small residual network on handwritten digits with JAX and exports it.

    python3 -m venv /tmp/digits && /tmp/digits/bin/pip install -r requirements.txt
    /tmp/digits/bin/python train.py            # some 20 s on two CPU cores

Everything is seeded: the split, the initial weights and the order of the
batches.  Bits may still differ on another CPU, because XLA chooses the order of
its sums by what the machine offers; the committed files are from one run.

Written next to this script:
  model.mlir              the trained network in linalg, tensor, arith and math
  images_test.npy         the 597 held-out images, [597, 8, 8, 1] float32
  labels_test.npy         their labels, [597] int32
  probabilities_test.npy  what JAX computes for them, [597, 10] float32
  expected.json           JAX's accuracy and the versions used
"""

import json
import pathlib
import platform

import jax
import jax.numpy as jnp
import numpy as np
import optax
import sklearn
from sklearn.datasets import load_digits

SEED = 8
TRAIN = 1200
BATCH = 100
EPOCHS = 120
LEARNING_RATE = 4e-3
WEIGHT_DECAY = 0.02
EPSILON = 1e-5
MOMENTUM = 0.9
HERE = pathlib.Path(__file__).resolve().parent

# name, input channels, output channels, stride
CONVOLUTIONS = [
    ("stem", 1, 16, 1),
    ("block_a", 16, 16, 1),
    ("block_b", 16, 16, 1),
    ("down", 16, 32, 2),
]
FEATURES = 2 * 2 * 32
CLASSES = 10


def split():
    """Pixels 0..16 scaled to 0..1; a seeded shuffle, then a cut at TRAIN."""
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[..., None]
    labels = digits.target.astype(np.int32)
    order = np.random.default_rng(SEED).permutation(len(images))
    train, test = order[:TRAIN], order[TRAIN:]
    return images[train], labels[train], images[test], labels[test]


def initial():
    """Trained parameters and, apart from them, the running statistics."""
    key = jax.random.PRNGKey(SEED)
    params, stats = {}, {}
    for name, cin, cout, _ in CONVOLUTIONS:
        key, sub = jax.random.split(key)
        scale = np.sqrt(2.0 / (9 * cin))
        params[name] = {
            "filter": scale * jax.random.normal(sub, (3, 3, cin, cout)),
            "gamma": jnp.ones(cout),
            "beta": jnp.zeros(cout),
        }
        stats[name] = {"mean": jnp.zeros(cout), "var": jnp.ones(cout)}
    key, sub = jax.random.split(key)
    params["dense"] = {
        "weight": jax.random.normal(sub, (FEATURES, CLASSES))
        / np.sqrt(FEATURES),
        "bias": jnp.zeros(CLASSES),
    }
    return params, stats


def logits(params, stats, x, training):
    """The network; also returns the statistics after this batch."""
    after = {}

    def conv_norm(name, stride, x):
        p = params[name]
        y = jax.lax.conv_general_dilated(
            x,
            p["filter"],
            (stride, stride),
            [(1, 1), (1, 1)],
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        if training:
            mean, var = jnp.mean(y, (0, 1, 2)), jnp.var(y, (0, 1, 2))
            blend = lambda old, new: MOMENTUM * old + (1 - MOMENTUM) * new
            after[name] = {
                "mean": blend(stats[name]["mean"], mean),
                "var": blend(stats[name]["var"], var),
            }
        else:
            mean, var = stats[name]["mean"], stats[name]["var"]
        return (y - mean) * jax.lax.rsqrt(var + EPSILON) * p["gamma"] + p["beta"]

    stride = {name: s for name, _, _, s in CONVOLUTIONS}
    x = jax.nn.silu(conv_norm("stem", stride["stem"], x))
    y = jax.nn.silu(conv_norm("block_a", stride["block_a"], x))
    y = conv_norm("block_b", stride["block_b"], y)
    x = jax.nn.silu(x + y)
    x = jax.nn.silu(conv_norm("down", stride["down"], x))
    x = jax.lax.reduce_window(
        x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
    ) / 4.0
    x = x.reshape(x.shape[0], FEATURES)
    return x @ params["dense"]["weight"] + params["dense"]["bias"], after


def train(images, labels):
    params, stats = initial()
    steps = EPOCHS * (TRAIN // BATCH)
    schedule = optax.cosine_decay_schedule(LEARNING_RATE, steps)
    optimizer = optax.adamw(schedule, weight_decay=WEIGHT_DECAY)
    state = optimizer.init(params)

    def loss(params, stats, x, y):
        out, after = logits(params, stats, x, True)
        target = optax.smooth_labels(jax.nn.one_hot(y, CLASSES), 0.05)
        return optax.softmax_cross_entropy(out, target).mean(), after

    @jax.jit
    def step(params, stats, state, x, y):
        (value, after), grads = jax.value_and_grad(loss, has_aux=True)(
            params, stats, x, y
        )
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), after, state, value

    rng = np.random.default_rng(SEED + 1)
    for epoch in range(EPOCHS):
        order = rng.permutation(TRAIN)
        for at in range(0, TRAIN, BATCH):
            pick = order[at : at + BATCH]
            params, stats, state, value = step(
                params, stats, state, images[pick], labels[pick]
            )
        if (epoch + 1) % 20 == 0:
            print(f"epoch {epoch + 1}: loss {float(value):.4f}")
    return params, stats


class Writer:
    """Prints the network one operation at a time, as a front end would.

    Nothing is folded: batch normalization, SiLU and the residual sum are ops
    of their own, so that finding what belongs together is the compiler's work.
    """

    def __init__(self):
        self.lines = []
        self.count = 0

    def value(self, text):
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"    {name} = {text}")
        return name

    def constant(self, array):
        data = np.asarray(array, dtype="<f4")
        shape = "x".join(map(str, data.shape))
        kind = f"tensor<{shape}xf32>"
        text = data.tobytes().hex().upper()
        return self.value(f'arith.constant dense<"0x{text}"> : {kind}'), kind

    def empty(self, kind):
        return self.value(f"tensor.empty(%n) : {kind}")

    def zeros(self, kind):
        init = self.empty(kind)
        return self.value(
            f"linalg.fill ins(%zero : f32) outs({init} : {kind}) -> {kind}"
        )

    def generic(self, maps, inputs, kind, args, body):
        """An elementwise linalg.generic; `inputs` are (value, type) pairs."""
        rank = kind.count("x")
        loops = ", ".join(['"parallel"'] * rank)
        names = ", ".join(value for value, _ in inputs)
        types = ", ".join(t for _, t in inputs)
        init = self.empty(kind)
        block = ", ".join(f"%{a}: f32" for a in args + ["out"])
        result = self.value(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{loops}]}} ins({names} : {types}) "
            f"outs({init} : {kind}) {{\n    ^bb0({block}):"
        )
        self.lines += [f"      {line}" for line in body]
        self.lines.append(f"    }} -> {kind}")
        return result

    def conv(self, x, size, p, stride):
        cin, cout = p["filter"].shape[2:]
        out = size // stride
        pad, kind = size + 2, f"tensor<?x{out}x{out}x{cout}xf32>"
        padded = self.value(
            f"tensor.pad {x} low[0, 1, 1, 0] high[0, 1, 1, 0] {{\n"
            "    ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
            "      tensor.yield %zero : f32\n"
            f"    }} : tensor<?x{size}x{size}x{cin}xf32> to "
            f"tensor<?x{pad}x{pad}x{cin}xf32>"
        )
        filters, filter_kind = self.constant(p["filter"])
        init = self.zeros(kind)
        y = self.value(
            "linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, "
            f"strides = dense<{stride}> : vector<2xi64>}} "
            f"ins({padded}, {filters} : tensor<?x{pad}x{pad}x{cin}xf32>, "
            f"{filter_kind}) outs({init} : {kind}) -> {kind}"
        )
        return y, kind

    def batch_norm(self, x, kind, p, s):
        vectors = [
            self.constant(v) for v in (s["mean"], s["var"], p["gamma"], p["beta"])
        ]
        return self.generic(
            ["#all4"] + ["#channel4"] * 4 + ["#all4"],
            [(x, kind)] + vectors,
            kind,
            ["x", "mean", "var", "gamma", "beta"],
            [
                "%centered = arith.subf %x, %mean : f32",
                "%shifted = arith.addf %var, %epsilon : f32",
                "%inverse = math.rsqrt %shifted : f32",
                "%normal = arith.mulf %centered, %inverse : f32",
                "%scaled = arith.mulf %normal, %gamma : f32",
                "%y = arith.addf %scaled, %beta : f32",
                "linalg.yield %y : f32",
            ],
        )

    def silu(self, x, kind):
        return self.generic(
            ["#all4", "#all4"],
            [(x, kind)],
            kind,
            ["x"],
            [
                "%negated = arith.negf %x : f32",
                "%exp = math.exp %negated : f32",
                "%sum = arith.addf %exp, %one : f32",
                "%sigmoid = arith.divf %one, %sum : f32",
                "%y = arith.mulf %x, %sigmoid : f32",
                "linalg.yield %y : f32",
            ],
        )

    def add(self, a, b, kind):
        return self.generic(
            ["#all4", "#all4", "#all4"],
            [(a, kind), (b, kind)],
            kind,
            ["a", "b"],
            ["%y = arith.addf %a, %b : f32", "linalg.yield %y : f32"],
        )


def export(params, stats):
    w = Writer()
    image = "%images"

    def conv_norm(name, x, size, stride):
        y, kind = w.conv(x, size, params[name], stride)
        return w.batch_norm(y, kind, params[name], stats[name]), kind

    y, kind = conv_norm("stem", image, 8, 1)
    stem = w.silu(y, kind)
    y, kind = conv_norm("block_a", stem, 8, 1)
    y = w.silu(y, kind)
    y, kind = conv_norm("block_b", y, 8, 1)
    y = w.silu(w.add(stem, y, kind), kind)
    y, kind = conv_norm("down", y, 8, 2)
    y = w.silu(y, kind)

    pooled = "tensor<?x2x2x32xf32>"
    window = w.value("tensor.empty() : tensor<2x2xf32>")
    init = w.zeros(pooled)
    y = w.value(
        "linalg.pooling_nhwc_sum {dilations = dense<1> : vector<2xi64>, "
        f"strides = dense<2> : vector<2xi64>}} ins({y}, {window} : {kind}, "
        f"tensor<2x2xf32>) outs({init} : {pooled}) -> {pooled}"
    )
    y = w.generic(
        ["#all4", "#all4"],
        [(y, pooled)],
        pooled,
        ["x"],
        ["%y = arith.divf %x, %four : f32", "linalg.yield %y : f32"],
    )
    flat = f"tensor<?x{FEATURES}xf32>"
    y = w.value(f"tensor.collapse_shape {y} [[0], [1, 2, 3]] : {pooled} into {flat}")

    out = f"tensor<?x{CLASSES}xf32>"
    weight, weight_kind = w.constant(params["dense"]["weight"])
    init = w.zeros(out)
    y = w.value(
        f"linalg.matmul ins({y}, {weight} : {flat}, {weight_kind}) "
        f"outs({init} : {out}) -> {out}"
    )
    y = w.generic(
        ["#all2", "#channel2", "#all2"],
        [(y, out), w.constant(params["dense"]["bias"])],
        out,
        ["x", "bias"],
        ["%y = arith.addf %x, %bias : f32", "linalg.yield %y : f32"],
    )
    init = w.empty(out)
    y = w.value(
        f"linalg.softmax dimension(1) ins({y} : {out}) outs({init} : {out}) -> {out}"
    )

    head = f"""\
// A small residual network on 8x8 handwritten digits, written by train.py.
#all4 = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel4 = affine_map<(n, h, w, c) -> (c)>
#all2 = affine_map<(n, c) -> (n, c)>
#channel2 = affine_map<(n, c) -> (c)>
module {{
  func.func @main(%images: tensor<?x8x8x1xf32>) -> {out} {{
    %zero = arith.constant 0.000000e+00 : f32
    %one = arith.constant 1.000000e+00 : f32
    %four = arith.constant 4.000000e+00 : f32
    %epsilon = arith.constant {EPSILON:e} : f32
    %axis = arith.constant 0 : index
    %n = tensor.dim %images, %axis : tensor<?x8x8x1xf32>
"""
    tail = f"    return {y} : {out}\n  }}\n}}\n"
    return head + "\n".join(w.lines) + "\n" + tail


def main():
    train_images, train_labels, images, labels = split()
    params, stats = train(train_images, train_labels)

    infer = jax.jit(lambda x: jax.nn.softmax(logits(params, stats, x, False)[0]))
    probabilities = np.asarray(infer(images))
    correct = int((probabilities.argmax(1) == labels).sum())
    count = sum(int(leaf.size) for leaf in jax.tree.leaves(params))
    print(f"held-out accuracy {correct}/{len(labels)}, {count} parameters")

    (HERE / "model.mlir").write_text(export(params, stats))
    np.save(HERE / "images_test.npy", images)
    np.save(HERE / "labels_test.npy", labels)
    np.save(HERE / "probabilities_test.npy", probabilities)
    expected = {
        "correct": correct,
        "total": len(labels),
        "parameters": count,
        "versions": {
            "python": platform.python_version(),
            "jax": jax.__version__,
            "optax": optax.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
        },
    }
    (HERE / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


if __name__ == "__main__":
    main()
