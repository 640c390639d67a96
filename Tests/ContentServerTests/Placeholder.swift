// ContentServer
