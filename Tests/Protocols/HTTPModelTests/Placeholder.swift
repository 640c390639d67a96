// HTTPModel
