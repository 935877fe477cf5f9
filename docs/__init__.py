"""The pages of the documentation, and what makes a site and a reference of them."""
