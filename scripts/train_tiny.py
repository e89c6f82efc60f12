#!/usr/bin/env python3
"""Makes the three bundled checkpoints: text, tokenizer, training, sample, hash.

    pip install jax==0.10.2 tokenizers==0.23.2 safetensors==0.8.0
    XLA_FLAGS='--xla_cpu_multi_thread_eigen=false' python3 scripts/train_tiny.py models [NAME ..]

The text comes from the grammar below, so it may be shipped, and held-out text is more of the same.
Same versions on the same kind of processor give the same bytes; `--check` trains again and compares
the hash with the one in `models/<name>/CARD.json`.
"""

import argparse
import functools
import hashlib
import json
import math
import pathlib
import random
import sys

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

MODELS = {
    "tiny-llama": dict(
        architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=128,
        intermediate_size=256, num_hidden_layers=4, num_attention_heads=2,
        num_key_value_heads=1, head_dim=64, attention_bias=False, seed=11),
    "tiny-qwen2": dict(
        architectures=["Qwen2ForCausalLM"], model_type="qwen2", hidden_size=256,
        intermediate_size=256, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, use_sliding_window=False, seed=12),
    # An odd number of heads, on purpose: attention on the array takes two at a time.
    "tiny-qwen3": dict(
        architectures=["Qwen3ForCausalLM"], model_type="qwen3", hidden_size=128,
        intermediate_size=512, num_hidden_layers=4, num_attention_heads=3,
        num_key_value_heads=1, head_dim=64, attention_bias=False, use_sliding_window=False,
        seed=13),
}
VOCAB, LENGTH, END = 512, 512, "<|end|>"

FISH = ["pilot fish", "shark", "ray", "turtle", "seal", "whale", "crab", "heron"]
PLACES = ["the reef", "the harbour", "the cold bay", "the river mouth", "the open sea", "the old wreck"]
TIMES = ["At dawn", "At noon", "In the evening", "After the storm", "Before the tide", "All night"]
FOODS = ["small shrimp", "green weed", "silver herring", "soft clams", "fallen crumbs"]
FEELINGS = ["glad", "tired", "curious", "patient", "careful", "brave"]
KERNELS = ["the matrix kernel", "the attention kernel", "the norm kernel", "the rotary kernel"]
FAULTS = ["a stale buffer", "a wrong stride", "a missing mask", "a swapped head", "a late copy"]
GAINS = ["two dispatches became one", "the weights stayed in place", "the tiles fitted the cores",
         "the host did less work", "nothing was copied twice"]


def story(r):
    """One short text: a few sentences about the same thing, so that there is something to carry."""
    fish, friend = r.sample(FISH, 2)
    place, time, food, feel = r.choice(PLACES), r.choice(TIMES), r.choice(FOODS), r.choice(FEELINGS)
    sea = [
        f"{time} the {fish} swims to {place}.",
        f"There it meets a {friend}, and the two look for {food}.",
        f"The {friend} says that {place} is quiet, and the {fish} is {feel}.",
        f"They eat {food} until the light is gone.",
        f"Then the {fish} goes home, and the {friend} stays at {place}.",
    ]
    kernel, fault, gain = r.choice(KERNELS), r.choice(FAULTS), r.choice(GAINS)
    lab = [
        f"{time} we measure {kernel} again.",
        f"It is slow because of {fault}, so we look at the plan first.",
        f"We change one thing, and {gain}.",
        f"The gate passes, and the time goes down.",
        f"We write it in the log, because a number without a receipt is only a story.",
    ]
    facts = [
        "The capital of France is Paris.", "Water freezes at zero degrees.",
        "The sky is blue.", "The largest ocean is the Pacific.",
        "One and one is two.", "Two and two is four.", "Light travels at a fixed speed.",
    ]
    lines = r.choice([sea, lab, sea, lab, r.sample(facts, 4)])
    return " ".join(lines) + "\n"


def corpus(seed, count):
    r = random.Random(seed)
    return [story(r) for _ in range(count)]


def tokenizer(texts):
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=VOCAB, special_tokens=[END], show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    assert tok.get_vocab_size() == VOCAB
    return tok


def config(name):
    c = dict(MODELS[name])
    c.pop("seed")
    return c | dict(
        vocab_size=VOCAB, max_position_embeddings=2048, rms_norm_eps=1e-5, rope_theta=10000.0,
        rope_scaling=None, hidden_act="silu", tie_word_embeddings=True, torch_dtype="bfloat16",
        bos_token_id=None, eos_token_id=0)


def shapes(c):
    d, f, v = c["hidden_size"], c["intermediate_size"], c["vocab_size"]
    hd = c.get("head_dim", d // c["num_attention_heads"])
    q, kv = c["num_attention_heads"] * hd, c["num_key_value_heads"] * hd
    out = {"model.embed_tokens.weight": (v, d), "model.norm.weight": (d,)}
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        out |= {p + "input_layernorm.weight": (d,), p + "post_attention_layernorm.weight": (d,),
                p + "self_attn.q_proj.weight": (q, d), p + "self_attn.k_proj.weight": (kv, d),
                p + "self_attn.v_proj.weight": (kv, d), p + "self_attn.o_proj.weight": (d, q),
                p + "mlp.gate_proj.weight": (f, d), p + "mlp.up_proj.weight": (f, d),
                p + "mlp.down_proj.weight": (d, f)}
        if c["model_type"] == "qwen2":
            out |= {p + f"self_attn.{x}_proj.bias": (n,) for x, n in (("q", q), ("k", kv), ("v", kv))}
        if c["model_type"] == "qwen3":
            out |= {p + f"self_attn.{x}_norm.weight": (hd,) for x in "qk"}
    return out


def init(c, seed):
    r = np.random.default_rng(seed)
    deep = 1 / math.sqrt(2 * c["num_hidden_layers"])
    params = {}
    for name, shape in shapes(c).items():
        if name.endswith("norm.weight"):
            w = np.ones(shape)
        elif name.endswith("bias"):
            w = r.normal(0, 0.02, shape)
        else:
            scale = deep if "o_proj" in name or "down_proj" in name else 1.0
            w = r.normal(0, scale / math.sqrt(shape[-1]), shape)
        params[name] = jnp.asarray(w, jnp.float32)
    return params


def norm(x, w, eps):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * w


def rope(x, theta):
    half = x.shape[-1] // 2
    angle = jnp.outer(jnp.arange(x.shape[1]), theta ** (-jnp.arange(half) / half))
    cos, sin = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def forward(c, p, ids):
    eps, theta = c["rms_norm_eps"], c["rope_theta"]
    h, kv = c["num_attention_heads"], c["num_key_value_heads"]
    b, t = ids.shape
    mask = jnp.tril(jnp.ones((t, t), bool))
    x = p["model.embed_tokens.weight"][ids]
    for i in range(c["num_hidden_layers"]):
        w = lambda n: p[f"model.layers.{i}.{n}"]
        y = norm(x, w("input_layernorm.weight"), eps)
        def proj(n, heads):
            z = y @ w(f"self_attn.{n}_proj.weight").T
            if c["model_type"] == "qwen2":
                z = z + w(f"self_attn.{n}_proj.bias")
            z = z.reshape(b, t, heads, -1)
            return norm(z, w(f"self_attn.{n}_norm.weight"), eps) if (
                c["model_type"] == "qwen3" and n != "v") else z
        q, k, v = rope(proj("q", h), theta), rope(proj("k", kv), theta), proj("v", kv)
        k, v = jnp.repeat(k, h // kv, 2), jnp.repeat(v, h // kv, 2)
        s = jnp.einsum("bthd,bshd->bhts", q, k) / math.sqrt(q.shape[-1])
        s = jax.nn.softmax(jnp.where(mask, s, -1e30), -1)
        a = jnp.einsum("bhts,bshd->bthd", s, v).reshape(b, t, -1)
        x = x + a @ w("self_attn.o_proj.weight").T
        y = norm(x, w("post_attention_layernorm.weight"), eps)
        y = jax.nn.silu(y @ w("mlp.gate_proj.weight").T) * (y @ w("mlp.up_proj.weight").T)
        x = x + y @ w("mlp.down_proj.weight").T
    return norm(x, p["model.norm.weight"], eps) @ p["model.embed_tokens.weight"].T


def loss(c, p, ids):
    logits = forward(c, p, ids[:, :-1])
    logp = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logp, ids[:, 1:, None], -1))


def train(c, seed, ids, steps):
    p = init(c, seed)
    m = jax.tree.map(jnp.zeros_like, p)
    v = jax.tree.map(jnp.zeros_like, p)

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def update(p, m, v, batch, lr, step):
        value, g = jax.value_and_grad(lambda p: loss(c, p, batch))(p)
        size = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
        g = jax.tree.map(lambda x: x / jnp.maximum(size, 1.0), g)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.98 * a + 0.02 * b * b, v, g)
        fix = jnp.sqrt(1 - 0.98**step) / (1 - 0.9**step)
        p = jax.tree.map(lambda w, a, b: w - lr * (fix * a / (jnp.sqrt(b) + 1e-8) + 0.01 * w), p, m, v)
        return p, m, v, value

    r = np.random.default_rng(seed)
    for step in range(1, steps + 1):
        # Short windows first; the last sixth sees the whole length, so that late positions are learnt.
        length, rows = (128, 16) if step <= steps * 5 // 6 else (LENGTH, 4)
        at = r.integers(0, len(ids) - length - 1, rows)
        batch = jnp.asarray(np.stack([ids[a:a + length + 1] for a in at]))
        lr = 3e-3 * min(1, step / 50) * (0.5 + 0.5 * math.cos(math.pi * step / steps))
        p, m, v, value = update(p, m, v, batch, lr, float(step))
        if step % 100 == 0:
            print(f"  step {step:5d}  loss {float(value):.4f}", flush=True)
    return p


def bf16(x):
    """Rounds to nearest even, as a checkpoint in bf16 holds it."""
    return jnp.asarray(x).astype(jnp.bfloat16)


def sample(c, p, tok, prompt, words=40):
    ids = tok.encode(prompt).ids
    step = jax.jit(lambda ids, n: jnp.argmax(forward(c, p, ids)[0, n - 1]))
    while len(tok.decode(ids).split()) <= words and len(ids) < 200:
        padded = np.zeros((1, 256), np.int32)
        padded[0, :len(ids)] = ids
        ids.append(int(step(jnp.asarray(padded), len(ids))))
    return " ".join(tok.decode(ids).split()[:words])


def make(name, steps):
    c, seed = config(name), MODELS[name]["seed"]
    texts, held = corpus(1, 6000), corpus(2, 200)
    tok = tokenizer(texts)
    ids = np.concatenate([np.asarray(tok.encode(t).ids, np.int32) for t in texts])
    print(f"{name}: {len(ids)} tokens of text", flush=True)
    p = train(c, seed, ids, steps)
    p = {n: bf16(w) for n, w in p.items()}
    tensors = {n: np.asarray(w) for n, w in sorted(p.items())}
    f32 = {n: w.astype(jnp.float32) for n, w in p.items()}
    test = np.concatenate([np.asarray(tok.encode(t).ids, np.int32) for t in held])
    rows = len(test) // 257
    value = float(loss(c, f32, jnp.asarray(test[:rows * 257].reshape(rows, 257))))
    data = save(tensors, {"format": "pt"})
    card = dict(
        name=name, parameters=int(sum(w.size for w in tensors.values())), steps=steps,
        held_out_loss=round(value, 4), sample=sample(c, f32, tok, "At dawn the pilot fish"),
        sha256=hashlib.sha256(data).hexdigest(), made_by="scripts/train_tiny.py", jax=jax.__version__,
        licence="MIT OR Apache-2.0", text="generated by the grammar in the script")
    return c, tok, data, card


def main():
    args = argparse.ArgumentParser()
    args.add_argument("out", type=pathlib.Path)
    args.add_argument("names", nargs="*", default=list(MODELS))
    args.add_argument("--steps", type=int, default=1200)
    args.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    args = args.parse_args()
    for name in args.names or MODELS:
        c, tok, data, card = make(name, args.steps)
        print(json.dumps(card, indent=1), flush=True)
        folder = args.out / name
        if args.check:
            there = json.loads((folder / "CARD.json").read_text())
            if there["sha256"] != card["sha256"]:
                sys.exit(f"{name}: the hash is {card['sha256']}, not {there['sha256']}; "
                         f"held-out loss {card['held_out_loss']}, not {there['held_out_loss']}.\n"
                         "hint: bytes are the same on the same kind of processor only; on another "
                         "the loss must agree to about 0.001")
            print(f"{name}: the same bytes", flush=True)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(c, indent=2) + "\n")
        (folder / "model.safetensors").write_bytes(data)
        tok.save(str(folder / "tokenizer.json"))
        (folder / "CARD.json").write_text(json.dumps(card, indent=1) + "\n")


if __name__ == "__main__":
    main()
