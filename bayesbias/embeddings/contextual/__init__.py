"""Language models that give a word another vector, and another probability, in each context.

`language_model` loads one from a folder and finds words among its pieces, `forward` asks it in batches.
"""
