#!/usr/bin/env python3
"""Writes vocabulary.txt, tokens.json, scalars.json, squad.onnx, squad_fixed.onnx, answers.json and
embeddings.json: what tokenizers, transformers and torch make of texts, for Tests/KelvinTextTests. Seeded: the same packages write the same files.

    pip install torch==2.15.0 transformers==4.57.3 tokenizers==0.22.2 onnx==1.23.2 && Tests/Text/generate.py
"""
import json
import pathlib
import random

import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertForQuestionAnswering, BertTokenizerFast, QuestionAnsweringPipeline

FOLDER = pathlib.Path(__file__).parent
WORDS = """the a an of in on at to and or who what where when why how is was were are did does it its he she they
river otter badger lake forest winter summer market bridge tower clock harbour captain sailor letter copper silver music
violin garden kitchen bread butter cheese apple orange lemon window door street lamp morning evening night rain snow wind
wrote built found lost sold bought painted sailed walked carried opened closed 1887 1902 1914 1931 3 17 250""".split()
PIECES = """s es ed ing er est ly ness ment tion al ic ous ful less able un re in dis over under out up down work play read
hand book light water fire stone wood house home land sea sun moon star""".split()
PUNCTUATION = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + ["…", "–", "“", "”", "。", "、", "¿"]
LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789") + list("αβγδεσςœßøžбгдеあかテキ中文日本語") + \
    [chr(0x1100 + i) for i in range(19)] + [chr(0x1161 + i) for i in range(21)]


def write(name, document):
    text = json.dumps(document, ensure_ascii=True, indent=None, separators=(",", ":"))
    (FOLDER / name).write_text(text.replace("},{", "},\n{") + "\n")


def vocabulary():
    tokens = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    for token in PUNCTUATION + LETTERS + WORDS + PIECES + ["##" + t for t in LETTERS + PIECES]:
        if token not in tokens:
            tokens.append(token)
    # Letters whose words cannot be made of the others.
    tokens = [t for t in tokens if t not in ("##q", "ø")]
    (FOLDER / "vocabulary.txt").write_text("\n".join(tokens) + "\n")


TEXTS = [
    "", " ", "the otter", "The OTTER's unhandless booking!", "Überraschung: naïve café, Žluťoučký kůň", "e\u0301a\u0327\u0301 x\u0301",
    "中文 and 日本語のテキスト", "한국어 텍스트", "[CLS] otter [MASK] [SEP][PAD] [UNKNOWN] [mask]", "a\u0000b\ufffdc\u200bd\u00ade\ue000f",
    "tab\tnewline\nreturn\rnbsp\u00a0em\u2003line\u2028ideographic\u3000end", "İstanbul ISTANBUL ıstanbul ǅ ﬁ ß ẞ", "Σας ΟΔΟΣ σΣ",
    "x" * 100, "x" * 101, "é" * 100 + " " + "é" * 101, "it's 3,250.17–1887…  (\"yes\")", "quartz q qed", "øre", "👩‍👩‍👧 family 🇩🇪",
    "\u0301\u0302", "a\u0301\u0302\u0303b", "ab\u1f00\u0345", "𝔘𝔫𝔦 \U00020000\U0002a6df", "https://example.org/a_b?c=1&d=[2]", "\u2e3a dash \u2e43 new",
]


def scalars(tokenizer):
    """Every scalar between two letters: the classes of what becomes of it, as runs."""
    def form(value):
        pieces = tokenizer.normalizer.normalize_str("a" + chr(value) + "b")
        words = [w for w, _ in tokenizer.pre_tokenizer.pre_tokenize_str(pieces)]
        if words == ["ab"]:
            return 0  # dropped
        if words == ["a", "b"]:
            return 1  # a space
        if len(words) == 1:
            return 2  # part of a word
        return 3 if words[0] == "a" and words[-1] == "b" else 4  # words of their own; in the midst of one
    runs, last = [], None
    for value in range(0x110000):
        if 0xD800 <= value < 0xE000:
            continue
        found = form(value)
        if found != last:
            runs.append([value, found])
            last = found
    return runs


def texts(random_seed):
    chance = random.Random(random_seed)
    alphabet = WORDS + PIECES + PUNCTUATION + LETTERS + [" ", "  ", "\n", "\u0301", "É", "Ñ", "중", "國", "Q", "İ", "[SEP]", "[", "\u200d", "😀"]
    for _ in range(300):
        yield "".join(chance.choice(alphabet) + chance.choice(["", " "]) for _ in range(chance.randint(0, 24)))


def tokens():
    written = {}
    for lowercase in (True, False):
        tokenizer = BertWordPieceTokenizer(str(FOLDER / "vocabulary.txt"), lowercase=lowercase)
        entries = []
        for text in TEXTS + list(texts(20)):
            encoded = tokenizer.encode(text)
            entries.append({"text": text, "ids": encoded.ids, "offsets": [list(o) for o in encoded.offsets][1:-1]})
        written["uncased" if lowercase else "cased"] = entries
        if lowercase:
            write("scalars.json", scalars(tokenizer))
    write("tokens.json", written)


PASSAGES = [
    "The captain sailed to the harbour in 1887. She bought a copper clock, two lemons and an orange; the market was closed at night.",
    " ".join(f"In {year} the sailor carried {n} letters over the bridge, and {who} opened the silver door of the tower."
             for year in (1887, 1902, 1914, 1931) for n, who in ((3, "the captain"), (17, "a badger"), (250, "nobody"))),
    "Das Café an der Brücke: naïve Otter, “ganz” ohne Grund…  中文 日本語.",
]
QUESTIONS = ["Who opened the door?", "What was bought in 1887?", "Where is the otter?"]


class Logits(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, input_ids, attention_mask, token_type_ids):
        out = self.network(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids,
                           output_hidden_states=True)
        return out.start_logits, out.end_logits, out.hidden_states[-1]


class Fixed(torch.nn.Module):
    """As Apple's BERTSQUADFP16 has it: so many tokens, no mask, five axes."""
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, words, types):
        out = self.network(input_ids=words, attention_mask=(words != 0).long(), token_type_ids=types)
        return out.start_logits[:, None, :, None, None], out.end_logits[:, None, :, None, None]


def answers():
    tokenizer = BertTokenizerFast(vocab=str(FOLDER / "vocabulary.txt"), vocab_file=str(FOLDER / "vocabulary.txt"), do_lower_case=True)
    count = len((FOLDER / "vocabulary.txt").read_text().splitlines())
    torch.manual_seed(8)
    network = BertForQuestionAnswering(BertConfig(
        vocab_size=count, hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=128, initializer_range=0.4, attn_implementation="eager")).eval()
    example = [torch.ones(1, 8, dtype=torch.int64)] * 3
    path = FOLDER / "squad.onnx"
    torch.onnx.export(
        Logits(network).eval(), tuple(example), str(path), dynamo=False, opset_version=17,
        input_names=["input_ids", "attention_mask", "token_type_ids"], output_names=["start_logits", "end_logits", "last_hidden_state"],
        dynamic_axes={name: {1: "length"} for name in
                      ("input_ids", "attention_mask", "token_type_ids", "start_logits", "end_logits", "last_hidden_state")})
    words = torch.ones(1, 64, dtype=torch.int64)
    torch.onnx.export(
        Fixed(network).eval(), (words, words), str(FOLDER / "squad_fixed.onnx"), dynamo=False, opset_version=17,
        input_names=["wordIDs", "wordTypes"], output_names=["startLogits", "endLogits"])
    pipeline = QuestionAnsweringPipeline(model=network, tokenizer=tokenizer, device="cpu")
    written = []
    for passage in PASSAGES:
        for question in QUESTIONS:
            for options in ({}, {"handle_impossible_answer": True}, {"align_to_words": False, "max_answer_len": 6}):
                found = pipeline(question=question, context=passage, top_k=3, max_seq_len=64, doc_stride=24, **options)
                found = found if isinstance(found, list) else [found]
                written.append({
                    "question": question, "passage": passage, "options": options,
                    "answers": [{"text": a["answer"], "score": a["score"], "start": a["start"], "end": a["end"]} for a in found]})
    write("answers.json", written)
    written = []
    for text in ["the otter", "The captain sailed to the dark harbour in 1887.", "", "naïve 中文 Otter, badger & lake " * 6]:
        encoded = tokenizer(text, truncation=True, max_length=64, return_tensors="pt")
        with torch.no_grad():
            states = network.bert(**encoded).last_hidden_state[0].double()
        mean = states.mean(dim=0)
        written.append({"text": text, "mean": (mean / mean.norm()).tolist(), "first": states[0].tolist()})
    write("embeddings.json", written)


vocabulary()
tokens()
answers()
