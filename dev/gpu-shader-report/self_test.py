"""Tests of the tools in this folder; dev/check.sh --self-test runs them."""

import json
import unittest

import commands
import compilers
import estimate

CONVOLUTION = {"pipeline": 1, "function": "c", "constants": {"0": 64, "1": 32, "2": 2, "3": 2, "4": 0}}
# 960 to 160 channels at 7 by 7: 20 groups, each lane with 240 blocks of four input channels.
DISPATCH = {"dispatch": 1, "in": 1, "grid": [20, 1, 1],
            "push": [240, 240, 20, 40, 160, 49, 49, 49, 7, 7, 7, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]}


def log(*entries, is_robust=False):
    return commands.Log(
        map(json.dumps, [{"device": 1, "robustBufferAccess": is_robust}, CONVOLUTION, *entries]), {"c": "convolution"})


def inference(result):
    """The commands that an inference submits: what was recorded before, and the copy of a result."""
    return [{"submit": [1]}, {"wait": 1}, {"record": result}, {"copy": 4000, "in": result, "way": "down"},
            {"submit": [result]}, {"wait": 1}]


RECORDED = [{"record": 1}, DISPATCH, {"barrier": 1, "in": 1}, DISPATCH]

LISTING = """block.u 0 L1 [] -> {
      r0       = mov ur0                                       // delay=1
} -> [1]
block.u 1 L2 [0, 3] -> {
 up0  = isetp.ge.u32 ur4 ur3                                   // delay=1
      bra L4 up0                                               // delay=1
} -> [2, 4]
block.u 2 L4 [1] -> {
      exit                                                     // delay=1
} -> []
block.u 4 L5 [1] -> {
      r16..20  = ld.global.a64.constant.b128 [ur138+0x40]      // delay=2
@!p0  r4       = ffma.ftz r3 r1 r4                             // delay=4
      r5..7    = hmma.m16n8k16.f32 r1..5 r6..8 r5..7           // delay=4
} -> [3]
block.u 3 L6 [4] -> {
      bra L2                                                   // delay=1
} -> [1]"""

ADRENO = """mad.f32 r0.x, r1.x, r1.y, r0.x
l12:
isam.v.base0 (u32)(xyzw)r2.y, r11.x, s#0, t#2
(sy)(rpt1)mad.f32 r10.x, r2.y, (r)r4.y, (r)(last)r10.x
madsh.m16 r2.y, r1.w, r1.x, (last)r2.y
br p0.x, #l12
end"""


class Commands(unittest.TestCase):
    def test_an_inference_reaches_from_one_submission_of_its_commands_to_the_next(self):
        one = log(*RECORDED, *inference(2), *inference(3), *inference(4))
        self.assertEqual(commands.counts(one.inference()), {
            "dispatches": 2, "barriers": 1, "submissions": 2, "waits": 2, "copies": 1, "bytes up": 0,
            "bytes down": 4000, "bytes within": 0})

    def test_a_single_inference_is_the_commands_that_were_submitted(self):
        one = log(*RECORDED, {"record": 2}, {**DISPATCH, "in": 2}, *inference(3))
        self.assertEqual(commands.counts(one.inference())["dispatches"], 2)

    def test_a_token_is_the_commands_submitted_most_often_not_those_of_the_prompt(self):
        prompt = [{"record": 9}] + [{**DISPATCH, "in": 9}] * 3
        submitted = [{"submit": [9]}, {"wait": 1}]
        one = log(*RECORDED, *prompt, *submitted, *inference(2), *inference(3), *inference(4), *submitted)
        self.assertEqual(commands.counts(one.inference())["dispatches"], 2)

    def test_a_token_is_not_the_same_dispatches_with_the_cache_copied(self):
        copied = [{"record": 9}, {**DISPATCH, "in": 9}, {**DISPATCH, "in": 9}, {"copy": 75, "in": 9, "way": "down"}]
        submitted = [{"submit": [9]}, {"wait": 1}]
        one = log(*RECORDED, *copied, *inference(2), *inference(3), *inference(4), *submitted * 2)
        self.assertEqual(commands.counts(one.inference())["bytes down"], 4000)


class Estimates(unittest.TestCase):
    def work(self):
        return estimate.work(log(DISPATCH).dispatch(DISPATCH))

    def test_a_convolution_is_its_groups_steps_and_operations(self):
        work = self.work()
        self.assertEqual((work.groups, work.steps, work.multiply_adds), (20, 240, 64))
        self.assertEqual(work.useful, 2 * 49 * 960 * 160)
        self.assertEqual(work.cached, 20 * 240 * (64 * 2 + 8) * 16)

    def test_groups_that_share_the_depth_write_sums_that_are_added(self):
        # The same product in tiles of 64 by 32, whose depth of 60 slabs eight groups share.
        constants = dict(enumerate([128, 64, 32, 4, 1, 0, 0, 255, 0]))
        push = (240, 240, 40, 40, 160, 49, 5, 8, 8, 49, 49, 7, 7, 7, 1, 1) + (0,) * 12
        product = commands.Pipeline("staged_product_parts", constants, {})
        work = estimate.work(commands.Dispatch(product, (1, 40, 1), push))
        self.assertEqual((work.groups, work.steps, work.multiply_adds, work.lanes), (40, 8, 256, 128))
        self.assertEqual(work.useful, self.work().useful)
        # Each of five tiles across has 49 positions, not 64.
        self.assertEqual(work.cached, 960 * (5 * 49 + 160) * 4 + 8 * 49 * 160 * 4)
        total = commands.Pipeline("staged_sum", {0: 64, 1: 0, 2: 255}, {})
        work = estimate.work(commands.Dispatch(total, (31, 1, 1), (49 * 40, 8, 49, 40, 160, 0, 0, 0, 0)))
        self.assertEqual((work.steps, work.cached), (3, 49 * 40 * 16 * 9))

    def test_staged_integers_load_a_word_for_an_input_and_a_byte_for_a_weight(self):
        # The same product of bytes in tiles of 64 by 64, whose depth of 15 slabs two groups share.
        constants = dict(enumerate([256, 64, 64, 4, 0, 0, 1, 1, 0, 0]))
        push = (49, 1, 960, 160, 240, 3, 2, 8, 49, 49, 7, 7, 7, 1, 1) + (0,) * 10
        product = commands.Pipeline("staged_integers_dot", constants, {})
        work = estimate.work(commands.Dispatch(product, (1, 6, 1), push))
        self.assertEqual((work.groups, work.steps, work.lanes), (6, 8, 256))
        self.assertEqual(work.useful, self.work().useful)
        self.assertEqual(work.cached, 960 * (3 * 4 * 49 + 160) + 2 * 49 * 160 * 4)

    def test_taps_of_one_channel_that_are_read_together_are_one_step(self):
        # The mean of 7 by 7 bytes in 2048 channels.
        push = (2048, 1, 1, 1, 2048, 1, 1, 0, 1, 1, 1, 7, 7, 1, 7, 7) + (1,) * 6

        def mean(taps):
            kernel = commands.Pipeline("integer_product", {0: 64, 1: 1, 6: 1, 9: taps}, {})
            return estimate.work(commands.Dispatch(kernel, (32, 1, 1), push))

        one, seven = mean(1), mean(7)
        self.assertEqual((one.steps, seven.steps), (49, 7))
        self.assertEqual(one.useful, seven.useful)

    def test_rectangles_read_what_their_windows_see_once(self):
        # U-Net: 3 by 3 windows of 32 channels at 224 by 224, 16 channels of the result, 28 by 14 rectangles.
        push = (8, 4, 16, 392, 28, 14, 224, 224, 224, 224, 3, 3, 1, 1, 1, 1, 1, 1) + (0,) * 4
        kernel = commands.Pipeline(
            "staged_product_windows", dict(enumerate([64, 8, 16, 16, 8, 8 * 10 * 18, 0, 0])), {})
        work = estimate.work(commands.Dispatch(kernel, (392, 1, 1), push))
        self.assertEqual((work.groups, work.steps), (392, 6 + 18))
        self.assertEqual(work.useful, 2 * 224 * 224 * 288 * 16)
        self.assertEqual(work.flops, work.useful)
        self.assertEqual(work.cached, 392 * (8 * 180 * 16 + 288 * 16 * 4))
        self.assertLess(work.cached, estimate.BYTES_PER_FLOP * work.useful)

    def test_a_token_s_attention_has_short_chains_in_wide_groups(self):
        # Twelve heads, one query, 1024 keys of 64, a lane for each key.
        push = (12, 12, 1, 1, 1024, 1, 16) + (0,) * 23
        kernel = commands.Pipeline("attention_row_limited", {0: 1024, 1: 0, 2: 32, 3: 64, 4: 64, 5: 1, 6: 1}, {})
        work = estimate.work(commands.Dispatch(kernel, (12, 1, 1), push))
        self.assertEqual((work.groups, work.lanes, work.steps), (12, 1024, 4 + 1 + 4))
        self.assertEqual((work.useful, work.cached), (2 * 12 * 1024 * 128, 12 * 1024 * 128 * 4))
        # Two groups share the keys of each head and write sums, of which another kernel makes the result.
        shared = commands.Pipeline("attention_row_limited_parts", {**kernel.constants, 0: 256}, {})
        work = estimate.work(commands.Dispatch(shared, (24, 1, 1), (12, 12, 1, 1, 1024, 2, 16) + (0,) * 23))
        self.assertEqual((work.groups, work.steps), (24, 2 * 9))
        self.assertEqual(work.cached, 12 * 1024 * 128 * 4 + 2 * 12 * 66 * 4)
        total = commands.Pipeline("attention_sum", {0: 64}, {})
        work = estimate.work(commands.Dispatch(total, (12, 1, 1), (12, 64, 0, 12, 1, 2, 0, 64, 0)))
        self.assertEqual((work.steps, work.cached), (4, 12 * 64 * (12 * 2 + 4)))

    def test_attention_in_slabs_reads_keys_for_32_queries_at_a_time(self):
        # ViT-B/16: 197 queries and keys of 64 in twelve heads.
        constants = {0: 128, 1: 32, 2: 16, 3: 16, 4: 0, 5: 16}
        push = (12, 12, 1, 197, 197) + (0,) * 20 + (1,)
        work = estimate.work(commands.Dispatch(commands.Pipeline("attention_staged", constants, {}), (7, 12, 1), push))
        self.assertEqual((work.groups, work.lanes, work.steps, work.multiply_adds), (84, 128, 1 + 2 * 7, 512))
        self.assertEqual(work.useful, 4 * 12 * 197 * 197 * 64)
        self.assertEqual(work.cached, 84 * (32 * 64 + 7 * 32 * 128) * 4)
        self.assertLess(work.cached, estimate.BYTES_PER_FLOP * work.useful)

    def test_wide_groups_shorten_the_chain_of_a_product_of_one_row(self):
        def steps(lanes):
            kernel = commands.Pipeline("linear", {0: lanes, 1: 1}, {})
            return estimate.work(commands.Dispatch(kernel, (192, 1, 1), (1, 3072, 768, 4))).steps

        self.assertEqual((steps(64), steps(256)), (48, 12))

    def test_products_in_float16_and_of_matrices_run_at_the_rates_of_a_card(self):
        constants = dict(enumerate([128, 64, 64, 8, 1, 0, 0, 255, 0, 0, 16, 16, 16, 2, 2]))

        def staged(kind, steps):
            push = (768, 768, 192, 192, 768, 784, 12, 1, steps, 784, 784, 28, 28, 28, 1, 1) + (0,) * 12
            product = commands.Pipeline(f"staged_product{kind}_half", constants, {})
            return estimate.work(commands.Dispatch(product, (13, 12, 1), push))

        plain, narrow, matrices = staged("", 192), staged("_narrow", 192), staged("_cooperative", 96)
        self.assertEqual(plain.flops, narrow.flops)
        self.assertEqual(plain.flops, matrices.flops)
        self.assertEqual(plain.cached, matrices.cached)
        self.assertEqual((plain.multiply_adds, narrow.multiply_adds, matrices.multiply_adds), (512, 256, 64))

        def arithmetic(work, card):
            return estimate.parts(work, estimate.CARDS[card], is_robust=False)["arithmetic"]

        self.assertAlmostEqual(arithmetic(plain, "Adreno 740") / arithmetic(narrow, "Adreno 740"), 2)
        self.assertAlmostEqual(arithmetic(plain, "RTX 3060") / arithmetic(narrow, "RTX 3060"), 1)
        self.assertAlmostEqual(arithmetic(plain, "H100") / arithmetic(matrices, "H100"), 16)

    def test_the_sums_of_shares_are_those_of_the_arithmetic(self):
        constants = dict(enumerate([128, 64, 32, 4, 1, 0, 0, 255, 0, 0]))
        push = (240, 240, 40, 40, 160, 49, 5, 8, 8, 49, 49, 7, 7, 7, 1, 1) + (0,) * 12
        product = commands.Pipeline("staged_product_narrow_parts_half", constants, {})
        work = estimate.work(commands.Dispatch(product, (1, 40, 1), push))
        self.assertEqual((work.rate, work.cached), ("narrow", 960 * (5 * 49 + 160) * 2 + 8 * 49 * 160 * 4))

    def test_winograds_tiles_load_and_store_float32_points(self):
        def tiles(kernel):
            return estimate.work(commands.Dispatch(commands.Pipeline(kernel, {0: 64}, {}), (2, 1, 1), (100,) + (0,) * 15))

        small, large = tiles("winograd_input"), tiles("winograd_input_large_half")
        self.assertEqual((small.cached, small.stored), (100 * 32 * 16, 100 * 20 * 16))
        # Two lanes load a large tile, and store half of its points each.
        self.assertEqual((large.cached, large.stored), (100 * 36 * (8 + 8), 100 * (36 * 16 + 16 * 8) / 2))
        self.assertEqual(tiles("winograd_output").cached, small.stored)
        self.assertEqual(tiles("winograd_output_large_half").cached, 2 * large.stored)

    def test_a_step_of_a_chain_is_the_latency_and_the_lanes_instructions(self):
        parts = estimate.parts(self.work(), estimate.CARDS["H100"], is_robust=False)
        self.assertAlmostEqual(parts["chains"], 240 * (300 + 64 + 10 * 4) / 1.755e3)
        self.assertEqual(max(parts, key=parts.get), "chains")

    def test_checked_bounds_lengthen_a_step_on_cards_that_check_by_instructions(self):
        def chain(card, is_robust):
            return estimate.parts(self.work(), estimate.CARDS[card], is_robust)["chains"]

        self.assertAlmostEqual(chain("H100", True) - chain("H100", False), 240 * 10 * 36 / 1.755e3)
        self.assertEqual(chain("RX 7900 XTX", True), chain("RX 7900 XTX", False))

    def test_the_time_is_launches_and_the_longest_part_of_each_dispatch(self):
        time = estimate.estimate([self.work()] * 2, estimate.CARDS["H100"], is_robust=False)
        self.assertAlmostEqual(time["launches"], 0.007)
        self.assertAlmostEqual(time.total(), 0.007 + 2 * 240 * 404 / 1.755e6)

    def test_a_long_chain_on_an_idle_card_and_bytes_of_the_cache_are_beyond_limits(self):
        network = estimate.Network("unet", ["convolution", "block"], [self.work()] * 2, {}, False)
        self.assertEqual([network.chained(units) for units in (9, 10, 28)], [0, 0, 1])
        self.assertEqual(network.hungry, 1)
        self.assertEqual(len(network.behind()), 2)

    def test_a_product_that_waits_for_memory_may_load_its_operands_from_the_cache(self):
        # A token of GPT-2: each weight of 50257 columns is for one operation and the next.
        kernel = commands.Pipeline("normalized_linear", {0: 256}, {})
        dispatch = commands.Dispatch(kernel, (786, 1, 1), (1, 768, 50257, 64))
        work = estimate.work(dispatch)
        self.assertGreater(work.cached, estimate.BYTES_PER_FLOP * work.useful)
        self.assertEqual(estimate.Network("gpt2_shared", ["normalized_linear"], [work], {}, False).hungry, 0)
        for card in estimate.CARDS.values():
            self.assertGreater(card.cache, estimate.MOST_LOADED * card.memory)

    def test_waits_and_bytes_over_the_bus_are_the_hosts_time(self):
        counts = {"waits": 3, "bytes up": 30_000_000, "bytes down": 10_000_000}
        self.assertAlmostEqual(estimate.Network("unet", [], [], counts, False).host, 3 * 0.04 + 2)

    def test_a_product_without_a_formula_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no formula for the product 'convolution_general'"):
            estimate.work(commands.Dispatch(commands.Pipeline("convolution_general", {}, {}), (1, 1, 1), ()))


class Compilers(unittest.TestCase):
    def test_nvidias_loop_is_the_blocks_that_lead_back_to_its_first(self):
        self.assertEqual(
            compilers.nvidia_loop(LISTING), compilers.Loop(multiply_adds=65, vector=1, instructions=6))

    def test_adrenos_repeated_instructions_count_each_time(self):
        self.assertEqual(compilers.adreno_loop(ADRENO), compilers.Loop(multiply_adds=2, vector=1, instructions=6))

    def test_a_dot_product_of_bytes_is_four_multiply_adds(self):
        self.assertEqual(compilers.adreno_loop("l1:\ndp4acc r0.x, r1.x, r2.x, r0.x\nbr p0.x, #l1").multiply_adds, 4)
        self.assertEqual(compilers.amd_loop("BB1:\nv_dot4_i32_iu8 v1, v2, v3, v1\ns_cbranch_scc1 BB1").multiply_adds, 4)
        self.assertEqual(compilers.intel_loop("L1:\ndp4a (16|M0) r1 r1 r2 r3\njmpi L1").multiply_adds, 4)

    def test_a_kernel_misses_the_limits_of_its_compiler(self):
        def behind(gpu, constants="64 32 2 2 0 0 255 0 1", **properties):
            return compilers.Kernel(gpu, "convolution", constants, **{"spills": 0, "loop": None, **properties}).behind()

        checked = compilers.Loop(multiply_adds=64, vector=40, instructions=331)
        plain = compilers.Loop(multiply_adds=64, vector=10, instructions=123)
        self.assertEqual(
            behind("ampere", loop=checked),
            ["64 multiply-adds for 40 loads", "331 instructions for 64 multiply-adds"])
        self.assertEqual(behind("ampere", loop=plain), [])
        self.assertEqual(behind("apple-m1", instructions=725), ["725 instructions of at most 260"])
        self.assertEqual(behind("apple-m1", instructions=230), [])
        self.assertEqual(behind("apple-m1", "64 32 2 2 1 0 255 0 1", instructions=383), [])
        self.assertEqual(behind("adreno740", loop=plain, spills=4), ["spills 4"])
        # A window over one channel at a time is not a product.
        taps = compilers.Loop(multiply_adds=7, vector=14, instructions=510)
        for constants, misses in (("64 1 1 0 1 1 1 0 1 7", 0), ("64 1 1 0 0 1 1 0 1 1", 2)):
            kernel = compilers.Kernel("ampere", "integer_product", constants, taps, 0)
            self.assertEqual(len(kernel.behind()), misses)
        self.assertEqual(behind("adreno740", loop=plain, occupancy=0.375), ["occupancy 38% of at least 50%"])


if __name__ == "__main__":
    unittest.main()
