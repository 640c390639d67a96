internal import Logins

extension GatheredMessages.Message {
    /// The values in it, and whether some were left out.
    var reading: FieldReader {
        var reader = FieldReader(byteLimit: Self.fieldByteLimit)
        reader.read(message: bytes)
        return reader
    }

    /// How many bytes of values one message may yield.
    private static let fieldByteLimit = 1 << 20
}
