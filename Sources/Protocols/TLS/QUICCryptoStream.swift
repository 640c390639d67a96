/// Puts the pieces of a handshake's first message into their order (RFC 9000 §19.6).
///
/// Clients cut the hello and send its pieces shuffled, over several packets and datagrams. At most
/// twice `byteLimit` bytes are held, and the time taken is in proportion to what came.
struct QUICCryptoStream {
    /// The longest message with its header, in bytes: what is taken over TCP too.
    static let byteLimit = ClientHelloReader.messageLimit + 4

    private var bytes: [UInt8] = []
    private var isPresent: [Bool] = []
    /// How many bytes there are without a gap.
    private var contiguous = 0

    private static let clientHelloMessage: UInt8 = 1

    /// Takes a piece that came at `offset`.
    mutating func insert(_ piece: ArraySlice<UInt8>, at offset: UInt64) throws(QUICViolation) {
        let start = Int(clamping: offset)
        guard start <= Self.byteLimit, piece.count <= Self.byteLimit - start else {
            throw .cryptoTooLong(limit: Self.byteLimit)
        }
        guard !piece.isEmpty else { return }
        let missing = start + piece.count - bytes.count
        if missing > 0 {
            bytes.append(contentsOf: repeatElement(0, count: missing))
            isPresent.append(contentsOf: repeatElement(false, count: missing))
        }
        for (place, byte) in zip(start..., piece) {
            guard !isPresent[place] || bytes[place] == byte else {
                throw .cryptoChanged(offset: place)
            }
            bytes[place] = byte
            isPresent[place] = true
        }
        while contiguous < bytes.count, isPresent[contiguous] { contiguous += 1 }
    }

    /// The hello, `nil` if a part of it is missing; what follows it is left.
    func hello() throws(QUICViolation) -> ClientHello? {
        guard contiguous > 0 else { return nil }
        guard bytes[0] == Self.clientHelloMessage else {
            throw .hello(.notAClientHello(messageType: bytes[0]))
        }
        guard contiguous >= 4 else { return nil }
        let length = Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3])
        guard length <= ClientHelloReader.messageLimit else {
            throw .hello(.helloTooLong(length))
        }
        guard contiguous >= length + 4 else { return nil }
        do throws(ClientHelloViolation) {
            var parser = ClientHelloParser(message: [UInt8](bytes[..<(length + 4)]))
            return try parser.parse(format: .quic)
        } catch {
            throw .hello(error)
        }
    }
}
