"""Exact searches that are saved and restored on their way."""


def search_in_pieces(open_search, iterations):
    """Go on in a new search after so many iterations each; gives the last one, and what was saved for it."""
    search = open_search()
    search.start()
    while not search.finished:
        search.advance(iterations)
        state, arrays = search.save()
        again = open_search()
        again.restore(state, {name: array.copy() for name, array in arrays.items()})
        assert again.best().measures.tolist() == search.best().measures.tolist()
        search = again
    return search, state, arrays
