"""What a person sees and touches: the stage of a cell, cards, blocks, the terminal."""
