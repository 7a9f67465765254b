from benchmark.prompt import NONCE_TOKENS, PromptSource
from benchmark.vocabulary import FIRST_TOKEN_ID, TOKEN_IDS


def test_a_prompt_is_as_long_as_asked_and_differs_from_its_first_token_on() -> None:
    numbers = iter(range(1000))
    source = PromptSource("7/one-user", 64, 200, draw=lambda _: next(numbers))
    first, second = source.draw(), source.draw()
    assert len(first) == len(second) == 64
    assert first[0] != second[0]
    assert first[NONCE_TOKENS:] == second[NONCE_TOKENS:]
    assert all(FIRST_TOKEN_ID <= token < FIRST_TOKEN_ID + TOKEN_IDS for token in first)


def test_no_seed_fixes_the_nonce() -> None:
    nonces = {tuple(PromptSource("7/one-user", 64, 200).draw()[:NONCE_TOKENS]) for _ in range(50)}
    assert len(nonces) == 50


def test_the_shape_is_fixed_by_seed_and_lengths_and_by_nothing_else() -> None:
    shape = PromptSource("7/a", 64, 200).shape
    assert PromptSource("7/a", 64, 200).shape == shape
    others = [PromptSource("8/a", 64, 200), PromptSource("7/a", 65, 200), PromptSource("7/a", 64, 201)]
    assert len({shape.shape_hash, *(other.shape.shape_hash for other in others)}) == 4


def test_the_body_of_a_seed_never_changes_between_versions() -> None:
    # If this fails, results of earlier versions are of another shape and compare with none of the new ones.
    source = PromptSource("0/one-user", 12, 200, draw=lambda _: 0)
    assert source.draw()[NONCE_TOKENS:] == [5003, 15228, 11852, 20713]


def test_a_short_prompt_is_all_nonce() -> None:
    source = PromptSource("7/a", 3, 1)
    assert len(source.draw()) == 3
    assert source.shape.nonce_tokens == 3
