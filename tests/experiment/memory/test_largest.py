from experiment.catalogue.models import Geometry, model
from experiment.kv import cpu, layers
from experiment.memory.largest import Room, room
from experiment.memory.pod import pods
from experiment.memory.shortage import Verdict


def gemma_12b() -> Geometry:
    geometry = model("google/gemma-4-12B-it")
    assert geometry is not None
    return geometry


def rooms(limit_gib: float, pipeline: int, *, own_page_cache: bool = True) -> Room:
    held = pods(gemma_12b(), kv_bytes=2**30, limit_gib=limit_gib, pipeline=pipeline, own_page_cache=own_page_cache)
    pool = cpu.pool(layers.of(gemma_12b()), max_model_len=4096, pipeline=pipeline)
    return room(held, pool, longest=262_144)


def test_the_12b_post_had_room_for_little_more_than_it_asked_for() -> None:
    found = rooms(26, 2)
    assert 400_000_000 < found.sure.kv_bytes < found.perhaps.kv_bytes < 2**30
    assert found.sure.space_gib == 0, "not one whole GiB, so that the variable in whole GiB is of no use"
    assert 2048 < found.sure.max_model_len < 4096


def test_m7g_4xlarge_lifts_the_cap_as_the_12b_post_expected() -> None:
    assert rooms(56, 1).sure.max_model_len > 4096


def test_what_is_found_fits_and_one_block_more_does_not() -> None:
    sure = rooms(26, 2).sure
    pool = cpu.pool(layers.of(gemma_12b()), max_model_len=4096, pipeline=2)
    assert pool.cache(sure.kv_bytes, sure.max_model_len).fits
    assert not pool.cache(sure.kv_bytes, sure.max_model_len + 1).fits
    for kv_bytes, verdict in ((sure.kv_bytes, Verdict.FITS), (sure.kv_bytes + 10**6, Verdict.PERHAPS)):
        held = pods(gemma_12b(), kv_bytes=kv_bytes, limit_gib=26, pipeline=2, own_page_cache=True)
        assert {pod.verdict for pod in held} == {verdict}


def test_no_room_is_no_room() -> None:
    nothing = rooms(10, 2)
    assert nothing.sure.kv_bytes == nothing.perhaps.max_model_len == 0
