// HTTPCodecs
