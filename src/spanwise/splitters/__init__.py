"""The strategies, the protocol they share with a person's own, and the choice among them."""
