internal import Logins

extension GatheredMessages.Message {
    /// The values in it.
    var fields: [MessageField] {
        var reader = FieldReader(byteLimit: Self.fieldByteLimit)
        reader.read(message: bytes)
        return reader.fields
    }

    /// How many bytes of values one message may yield.
    private static let fieldByteLimit = 1 << 20
}
