"""Architectures for text and sound: those of the package transformers, made small, and networks in plain PyTorch."""
import torch
import transformers
from torch import nn
from torch.nn import functional as F

from catalog import ALL, COMPRESSED, architecture, image



class Named(nn.Module):
    """A model of transformers: its inputs by name and in order, its outputs by name."""

    def __init__(self, model, inputs, outputs, **fixed):
        super().__init__()
        self.model, self.inputs, self.outputs, self.fixed = model, inputs, outputs, fixed

    def forward(self, *given):
        result = self.model(**dict(zip(self.inputs, given)), **self.fixed, return_dict=True)
        return tuple(getattr(result, name) for name in self.outputs)


def pretrained(name, kind, config, inputs, outputs, routes=ALL, **fixed):
    @architecture(name, routes)
    def _():
        settings = config()
        settings._attn_implementation = "eager"
        values = inputs()
        model = getattr(transformers, kind)(settings)
        return Named(model, tuple(values), outputs, **fixed), tuple(values.values())


def tokens(count=9, batch=1, vocabulary=64):
    return torch.randint(3, vocabulary, (batch, count))


def text(mask=True):
    """Two sentences, the second shorter where there is a mask."""
    values = {"input_ids": tokens(9, 2)}
    if mask:
        values["attention_mask"] = torch.tensor([[1] * 9, [1] * 6 + [0] * 3])
    return values


small = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
of = lambda kind, **options: lambda: getattr(transformers, kind)(**options)

pretrained("bert", "BertModel", of("BertConfig", **small), text, ("last_hidden_state", "pooler_output"), COMPRESSED)
pretrained("roberta", "RobertaForTokenClassification", of("RobertaConfig", **small), text, ("logits",))
pretrained("albert", "AlbertModel", of("AlbertConfig", **small, embedding_size=16), text, ("last_hidden_state",))
pretrained("electra", "ElectraModel", of("ElectraConfig", **small, embedding_size=16), text, ("last_hidden_state",))
pretrained("deberta_v2", "DebertaV2Model", of(
    "DebertaV2Config", **small, relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"],
    norm_rel_ebd="layer_norm", share_att_key=True, conv_kernel_size=3), text, ("last_hidden_state",))
pretrained("mpnet", "MPNetModel", of("MPNetConfig", **small), text, ("last_hidden_state",))
pretrained("distilbert", "DistilBertModel", of(
    "DistilBertConfig", vocab_size=64, dim=32, n_layers=2, n_heads=4, hidden_dim=64), text, ("last_hidden_state",))
pretrained("modernbert", "ModernBertModel", of(
    "ModernBertConfig", **small, pad_token_id=0, global_attn_every_n_layers=2, local_attention=4), text, ("last_hidden_state",))
pretrained("gpt2", "GPT2LMHeadModel", of(
    "GPT2Config", vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=32), lambda: text(False), ("logits",), COMPRESSED,
    use_cache=False)
pretrained("bloom", "BloomForCausalLM", of(
    "BloomConfig", vocab_size=64, hidden_size=32, n_layer=2, n_head=4), text, ("logits",), use_cache=False)
pretrained("gpt_neox", "GPTNeoXForCausalLM", of("GPTNeoXConfig", **small), lambda: text(False), ("logits",), use_cache=False)
pretrained("llama", "LlamaForCausalLM", of("LlamaConfig", **small, num_key_value_heads=2), lambda: text(False), ("logits",),
           COMPRESSED, use_cache=False)
pretrained("mistral", "MistralForCausalLM", of("MistralConfig", **small, num_key_value_heads=2, sliding_window=4),
           lambda: text(False), ("logits",), use_cache=False)
pretrained("qwen2", "Qwen2ForCausalLM", of("Qwen2Config", **small, num_key_value_heads=2), lambda: text(False), ("logits",),
           use_cache=False)
pretrained("gemma2", "Gemma2ForCausalLM", of("Gemma2Config", **small, num_key_value_heads=2, head_dim=8, sliding_window=4),
           lambda: text(False), ("logits",), use_cache=False)
pretrained("phi", "PhiForCausalLM", of("PhiConfig", **small), lambda: text(False), ("logits",), use_cache=False)
pretrained("mamba", "MambaForCausalLM", of("MambaConfig", vocab_size=64, hidden_size=16, num_hidden_layers=2, state_size=4),
           lambda: text(False), ("logits",), use_cache=False)


def both(decoder="decoder_input_ids"):
    return lambda: {"input_ids": tokens(9), decoder: tokens(5)}


pretrained("t5", "T5ForConditionalGeneration", of(
    "T5Config", vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, feed_forward_proj="gated-gelu"),
    both(), ("logits",), COMPRESSED, use_cache=False)
pretrained("bart", "BartForConditionalGeneration", of(
    "BartConfig", vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64), both(), ("logits",), use_cache=False)
pretrained("whisper", "WhisperForConditionalGeneration", of(
    "WhisperConfig", vocab_size=64, num_mel_bins=16, d_model=32, encoder_layers=2, decoder_layers=2,
    encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=20,
    max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1),
    lambda: {"input_features": torch.randn(1, 16, 40), "decoder_input_ids": tokens(5)}, ("logits",), COMPRESSED, use_cache=False)

sound = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, conv_dim=(16, 16, 16),
    conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3), num_feat_extract_layers=3, num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=4, vocab_size=20, apply_spec_augment=False)
wave = lambda: {"input_values": torch.randn(1, 1600)}
pretrained("wav2vec2", "Wav2Vec2ForCTC", of("Wav2Vec2Config", **sound), wave, ("logits",))
pretrained("hubert", "HubertModel", of("HubertConfig", **sound), wave, ("last_hidden_state",))
pretrained("wavlm", "WavLMModel", of("WavLMConfig", **sound, num_buckets=16, max_bucket_distance=32), wave,
           ("last_hidden_state",))
pretrained("wav2vec2_conformer_relative", "Wav2Vec2ConformerModel", of(
    "Wav2Vec2ConformerConfig", **sound, position_embeddings_type="relative", conv_depthwise_kernel_size=7), wave,
    ("last_hidden_state",))
pretrained("wav2vec2_conformer_rotary", "Wav2Vec2ConformerModel", of(
    "Wav2Vec2ConformerConfig", **sound, position_embeddings_type="rotary", conv_depthwise_kernel_size=7), wave,
    ("last_hidden_state",))
pretrained("audio_spectrogram_transformer", "ASTModel", of(
    "ASTConfig", **{**small, "vocab_size": None}, max_length=40, num_mel_bins=32, patch_size=8, frequency_stride=6, time_stride=6),
    lambda: {"input_values": torch.randn(1, 40, 32)}, ("last_hidden_state", "pooler_output"))

pixels = lambda size: lambda: {"pixel_values": image(size)}
seeing = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
pretrained("clip", "CLIPModel", lambda: transformers.CLIPConfig(
    text_config=dict(**small, max_position_embeddings=16, eos_token_id=2),
    vision_config=dict(**seeing, image_size=32, patch_size=8), projection_dim=16),
    lambda: {"input_ids": tokens(9, 2), "pixel_values": image(32)}, ("logits_per_image", "text_embeds", "image_embeds"))
pretrained("siglip_vision", "SiglipVisionModel", of("SiglipVisionConfig", **seeing, image_size=32, patch_size=8), pixels(32),
           ("last_hidden_state", "pooler_output"))
pretrained("dinov2", "Dinov2Model", of("Dinov2Config", **seeing, image_size=32, patch_size=8), pixels(48),
           ("last_hidden_state",))
pretrained("beit", "BeitModel", of(
    "BeitConfig", **seeing, image_size=32, patch_size=8, use_relative_position_bias=True), pixels(32), ("last_hidden_state",))
pretrained("segformer", "SegformerForSemanticSegmentation", of(
    "SegformerConfig", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4],
    decoder_hidden_size=16, num_labels=5), pixels(64), ("logits",))
pretrained("mobilevit", "MobileViTModel", of(
    "MobileViTConfig", hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32], image_size=64), pixels(64),
    ("last_hidden_state",))
pretrained("detr", "DetrForObjectDetection", lambda: transformers.DetrConfig(
    use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage4"]),
    d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
    decoder_ffn_dim=64, num_queries=6, num_labels=5), pixels(64), ("logits", "pred_boxes"))
pretrained("deformable_detr", "DeformableDetrForObjectDetection", lambda: transformers.DeformableDetrConfig(
    use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic",
        out_features=["stage2", "stage3", "stage4"]),
    d_model=64, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
    decoder_ffn_dim=64, num_queries=6, num_labels=5, disable_custom_kernels=True), pixels(128), ("logits", "pred_boxes"))
pretrained("yolos", "YolosForObjectDetection", of(
    "YolosConfig", **seeing, image_size=[32, 48], patch_size=8, num_detection_tokens=5), lambda: {
        "pixel_values": torch.randn(1, 3, 32, 48)}, ("logits", "pred_boxes"))
pretrained("dpt", "DPTForDepthEstimation", of(
    "DPTConfig", **{**seeing, "num_hidden_layers": 4}, image_size=32, patch_size=8, backbone_out_indices=[0, 1, 2, 3],
    neck_hidden_sizes=[8, 16, 24, 32], fusion_hidden_size=16, is_hybrid=False), pixels(32), ("predicted_depth",))
pretrained("sam_vision", "SamVisionModel", of(
    "SamVisionConfig", hidden_size=32, output_channels=16, num_hidden_layers=2, num_attention_heads=4, image_size=64,
    patch_size=8, window_size=3, global_attn_indexes=[1], mlp_dim=64), pixels(64), ("last_hidden_state",))
pretrained("upernet_convnext", "UperNetForSemanticSegmentation", lambda: transformers.UperNetConfig(
    backbone_config=transformers.ConvNextConfig(
        hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], out_features=["stage1", "stage2", "stage3", "stage4"]),
    hidden_size=16, num_labels=5, use_auxiliary_head=False, use_pretrained_backbone=False, backbone=None), pixels(64), ("logits",))
class Vocoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, spectrogram):
        return self.model(spectrogram)


@architecture("hifigan")
def _():
    return Vocoder(transformers.SpeechT5HifiGan(transformers.SpeechT5HifiGanConfig(
        model_in_dim=16, upsample_initial_channel=16, upsample_rates=[4, 2], upsample_kernel_sizes=[8, 4],
        resblock_kernel_sizes=[3, 5], resblock_dilation_sizes=[[1, 3], [1, 3]], normalize_before=False))), (
            torch.randn(1, 12, 16),)


class Encodec(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, sound):
        return self.model.decoder(self.model.encoder(sound))


@architecture("encodec")
def _():
    return Encodec(transformers.EncodecModel(transformers.EncodecConfig(
        num_filters=4, hidden_size=16, codebook_dim=16, codebook_size=8, upsampling_ratios=[4, 2], num_lstm_layers=1))), (
            torch.randn(1, 1, 256),)


class Tagger(nn.Module):
    """A label for each word: embeddings, a recurrence in both directions, scores."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(40, 16)
        self.recurrence = nn.LSTM(16, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.scores = nn.Linear(24, 7)

    def forward(self, words):
        rows, (hidden, cell) = self.recurrence(self.embedding(words))
        return F.log_softmax(self.scores(rows), -1), hidden, cell


@architecture("lstm_tagger", COMPRESSED)
def _():
    return Tagger(), (torch.randint(0, 40, (2, 11)),)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrence, self.plain = nn.GRU(10, 14, num_layers=2), nn.RNN(14, 8, nonlinearity="relu", bidirectional=True)
        self.scores = nn.Linear(16, 3)

    def forward(self, rows, hidden):
        rows, last = self.recurrence(rows, hidden)
        rows, _ = self.plain(rows)
        return self.scores(rows[-1]), last


@architecture("gru_and_rnn")
def _():
    return Gated(), (torch.randn(9, 2, 10), torch.randn(2, 2, 14))


class Cells(nn.Module):
    """A recurrence that is unrolled, step by step."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(6, 8), nn.GRUCell(8, 8)

    def forward(self, rows):
        hidden, cell, state = (torch.zeros(rows.shape[1], 8) for _ in range(3))
        for row in rows:
            hidden, cell = self.lstm(row, (hidden, cell))
            state = self.gru(hidden, state)
        return state, cell


@architecture("recurrent_cells")
def _():
    return Cells(), (torch.randn(4, 2, 6),)


class Temporal(nn.Module):
    """A temporal convolutional network: dilated, causal, with weight normalization."""

    def __init__(self, widths=(8, 16, 16)):
        super().__init__()
        norm = nn.utils.parametrizations.weight_norm
        self.layers = nn.ModuleList(
            norm(nn.Conv1d(before, width, 3, dilation=2 ** level))
            for level, (before, width) in enumerate(zip((4, *widths), widths)))
        self.short = nn.ModuleList(nn.Conv1d(before, width, 1) for before, width in zip((4, *widths), widths))

    def forward(self, x):
        for level, (layer, short) in enumerate(zip(self.layers, self.short)):
            x = F.relu(layer(F.pad(x, (2 ** (level + 1), 0)))) + short(x)
        return x[:, :, -1]


@architecture("tcn")
def _():
    return Temporal(), (torch.randn(2, 4, 30),)


class Conformer(nn.Module):
    """One block: half a feed-forward, attention, a gated convolution, the other half."""

    def __init__(self, width=32, heads=4, size=7):
        super().__init__()
        self.before, self.after = self.forward_half(width), self.forward_half(width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.gated = nn.Conv1d(width, 2 * width, 1)
        self.depthwise = nn.Conv1d(width, width, size, padding=size // 2, groups=width)
        self.batch, self.pointwise = nn.BatchNorm1d(width), nn.Conv1d(width, width, 1)

    @staticmethod
    def forward_half(width):
        return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + 0.5 * self.before(x)
        rows = self.norms[0](x)
        x = x + self.attention(rows, rows, rows, need_weights=False)[0]
        rows = F.glu(self.gated(self.norms[1](x).transpose(1, 2)), 1)
        x = x + self.pointwise(F.silu(self.batch(self.depthwise(rows)))).transpose(1, 2)
        return self.norms[2](x + 0.5 * self.after(x))


@architecture("conformer")
def _():
    return Conformer(), (torch.randn(2, 13, 32),)


class MelFilters(nn.Module):
    """A spectrogram of mel bands, in decibels above a floor."""

    def __init__(self, size=64, bands=12):
        super().__init__()
        self.size = size
        self.register_buffer("window", torch.hann_window(size))
        self.register_buffer("filters", torch.rand(bands, size // 2 + 1))

    def forward(self, sound):
        parts = torch.stft(
            sound, self.size, self.size // 4, window=self.window, center=True, pad_mode="reflect", return_complex=False)
        bands = self.filters @ parts.pow(2).sum(-1)
        loud = torch.clamp(bands, min=1e-5).log10()
        return torch.maximum(loud, loud.amax(dim=(1, 2), keepdim=True) - 8)


@architecture("mel_spectrogram")
def _():
    return MelFilters(), (torch.randn(1, 800),)


class Resonance(nn.Module):
    """A spectrum by convolution, as exporters without a Fourier transform have it."""

    def __init__(self, size=32):
        super().__init__()
        angles = torch.arange(size // 2 + 1)[:, None] * torch.arange(size)[None] * (2 * torch.pi / size)
        self.register_buffer("waves", torch.cat([angles.cos(), angles.sin()])[:, None] * torch.hann_window(size))
        self.size = size

    def forward(self, sound):
        parts = F.conv1d(F.pad(sound[:, None], (self.size // 2, self.size // 2), mode="reflect"), self.waves, stride=8)
        real, imaginary = parts.chunk(2, 1)
        return torch.sqrt(real * real + imaginary * imaginary + 1e-9), torch.atan2(imaginary, real.abs() + 1)


@architecture("fourier_by_convolution")
def _():
    return Resonance(), (torch.randn(1, 300),)


class Experts(nn.Module):
    """A mixture: each row goes to its best two of four networks."""

    def __init__(self, width=16, count=4):
        super().__init__()
        self.router = nn.Linear(width, count)
        self.first, self.second = nn.Parameter(torch.randn(count, width, 32) / 4), nn.Parameter(torch.randn(count, 32, width) / 6)

    def forward(self, rows):
        weights, chosen = self.router(rows).softmax(-1).topk(2, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        inner = F.silu(torch.einsum("nw,nkwi->nki", rows, self.first[chosen]))
        return torch.einsum("nki,nkiw,nk->nw", inner, self.second[chosen], weights)


@architecture("mixture_of_experts")
def _():
    return Experts(), (torch.randn(10, 16),)


class Points(nn.Module):
    """A network of points in space: neighbours by distance, gathered, the largest of each."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 16), nn.Linear(16, 8)

    def forward(self, points):
        distances = torch.cdist(points, points)
        near = distances.topk(4, largest=False).indices
        count = points.shape[1]
        neighbours = torch.gather(
            points.unsqueeze(1).expand(-1, count, -1, -1), 2, near.unsqueeze(-1).expand(-1, -1, -1, 3))
        edges = torch.cat([neighbours - points.unsqueeze(2), points.unsqueeze(2).expand_as(neighbours)], -1)
        return self.second(F.leaky_relu(self.first(edges), 0.2)).amax(2).mean(1)


@architecture("point_cloud")
def _():
    return Points(), (torch.randn(2, 12, 3),)


class Graph(nn.Module):
    """Messages along edges, added up where they arrive."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(8, 8), nn.Linear(16, 8)

    def forward(self, nodes, edges):
        sent = self.message(nodes)[edges[0]]
        sums = torch.zeros_like(nodes).index_add(0, edges[1], sent)
        degrees = torch.zeros(nodes.shape[0]).scatter_add(0, edges[1], torch.ones(edges.shape[1]))
        return torch.tanh(self.update(torch.cat([nodes, sums / degrees.clamp(min=1)[:, None]], 1)))


@architecture("graph_network")
def _():
    return Graph(), (torch.randn(7, 8), torch.randint(0, 7, (2, 15)))


class Recommender(nn.Module):
    """Embeddings of categories that cross one another, beside numbers."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(10, 8) for _ in range(3))
        self.bags = nn.EmbeddingBag(20, 8, mode="sum")
        self.numbers, self.top = nn.Linear(5, 8), nn.Linear(8 + 10, 1)

    def forward(self, categories, bag, numbers):
        rows = [table(categories[:, index]) for index, table in enumerate(self.tables)]
        rows = torch.stack([*rows, self.bags(bag), self.numbers(numbers).relu()], 1)
        crossed = rows @ rows.transpose(1, 2)
        upper = torch.triu_indices(5, 5, 1)
        return torch.sigmoid(self.top(torch.cat([rows[:, -1], crossed[:, upper[0], upper[1]]], 1)))


@architecture("recommender")
def _():
    return Recommender(), (torch.randint(0, 10, (3, 3)), torch.randint(0, 20, (3, 4)), torch.randn(3, 5))
