"""Make fasttext_by_gensim.bin and the vectors that gensim reads from it: `python -m tests.embeddings.make_fasttext`."""

import json

from tests.embeddings.files import FASTTEXT_BIN, fasttext_model

if __name__ == "__main__":
    from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

    save_facebook_model(fasttext_model(), str(FASTTEXT_BIN))
    vectors = load_facebook_vectors(str(FASTTEXT_BIN))
    rows = {word: vectors[word].astype(float).tolist() for word in vectors.index_to_key}
    FASTTEXT_BIN.with_suffix(".json").write_text(json.dumps(rows, ensure_ascii=False) + "\n", encoding="utf-8")
