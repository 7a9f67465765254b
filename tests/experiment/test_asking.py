from experiment import arguments
from experiment.asked import Asked
from experiment.asking import asked, replica_urls
from experiment.plan.plan import make
from tests.experiment.stacks import NOW, settings_of


def test_it_is_read_back_as_it_was_written() -> None:
    told = asked(settings_of("gemma-1b-split"))
    assert Asked.model_validate_json(told.to_json()) == told


def test_a_split_is_asked_for_with_its_place_and_its_sizes() -> None:
    settings = settings_of("gemma-1b-split")
    told = asked(settings)
    assert (told.groups, told.size, told.pods) == (1, 2, 2)
    assert (told.instance, told.zones) == ("m7g.2xlarge", ("us-east-1a",))
    assert (told.version, told.max_model_len, told.image) == ("0.31.0", 4096, settings.engine_image)
    plan = make(settings, NOW)
    assert plan.cache is not None
    assert told.kv_tokens == plan.cache.tokens


def test_nodes_that_were_there_have_no_type_and_gpus_no_exact_cache() -> None:
    given = asked(settings_of("rehearsal-single"))
    assert (given.instance, given.zones) == (None, ())
    assert asked(settings_of("llama-70b-tp4x1")).kv_tokens is None


def test_arguments_are_expanded_for_each_pod() -> None:
    settings = settings_of("rehearsal-split")
    told = asked(settings)
    worker = told.expanded(0, 1, "there")
    assert "--node-rank=1" in worker
    assert "--master-addr=exp-rehearsal-split-0.exp-rehearsal-split.there" in worker
    assert "--headless" in worker
    assert not any("$(" in argument for argument in worker)
    plain = arguments.serve("leader", settings.model, settings.engine, settings.topology)
    assert len(told.expanded(0, 0, "there")) == len(plain)


def test_only_several_copies_have_addresses_of_their_own() -> None:
    assert replica_urls(settings_of("rehearsal-split")) == ()
    assert replica_urls(settings_of("gemma-1b-replicas")) == tuple(
        f"http://exp-gemma-1b-replicas-{k}.exp-gemma-1b-replicas.exp-gemma-1b-replicas.svc:8000" for k in (0, 1)
    )
