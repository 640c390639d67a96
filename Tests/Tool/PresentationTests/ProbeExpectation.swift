import Catalogue

/// Swift Testing has an `Expectation` as well; this file does without it.
typealias ProbeExpectation = Expectation
