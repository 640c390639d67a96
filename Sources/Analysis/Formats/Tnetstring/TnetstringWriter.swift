/// Writes tnetstrings behind each other.
struct TnetstringWriter {
    private let output: ([UInt8]) throws -> Void
    private var held: [UInt8] = []

    init(_ output: @escaping ([UInt8]) throws -> Void) {
        self.output = output
    }

    mutating func write(_ text: TnetstringText) throws {
        try text.write { bytes in
            held += bytes
            if held.count >= Self.pieceSize { try flush() }
        }
    }

    /// Hands over what is held back.
    mutating func flush() throws {
        guard !held.isEmpty else { return }
        try output(held)
        held.removeAll(keepingCapacity: true)
    }

    /// In bytes.
    private static let pieceSize = 64 << 10
}
