/// Why bytes are no message to or from a name server.
///
/// `code` is stable, `detail` is for people only.
package enum DNSViolation: Error, Sendable, Equatable {
    /// The message ends within a field.
    case truncatedMessage
    /// A label begins with two bits that were never defined.
    case labelType(UInt8)
    /// A name of more than 255 bytes.
    case nameTooLong
    /// A pointer does not lead towards the start of the message.
    case pointerNotBackwards
    case tooManyPointers(limit: Int)
    case tooManyRecords(limit: Int)
    /// A record's data breaks the specification of its type.
    case badRecord(DNSType)
    /// The options are at another name than the root's, or came twice (RFC 6891 §6.1.1).
    case badOptions
    /// Bytes are left over behind the last record.
    case trailingBytes(Int)

    /// A stable word that programs may compare.
    package var code: String {
        switch self {
        case .truncatedMessage: "truncated-message"
        case .labelType: "label-type"
        case .nameTooLong: "name-too-long"
        case .pointerNotBackwards: "pointer-not-backwards"
        case .tooManyPointers: "too-many-pointers"
        case .tooManyRecords: "too-many-records"
        case .badRecord: "bad-record"
        case .badOptions: "bad-options"
        case .trailingBytes: "trailing-bytes"
        }
    }

    /// What is wrong, in words.
    package var detail: String {
        switch self {
        case .truncatedMessage: "the DNS message ends within a field"
        case .labelType(let byte): "a label that begins with the byte \(byte)"
        case .nameTooLong: "a name of more than 255 bytes"
        case .pointerNotBackwards: "a pointer that leads forwards"
        case .tooManyPointers(let limit): "a name with more than \(limit) pointers"
        case .tooManyRecords(let limit): "a DNS message with more than \(limit) records"
        case .badRecord(let type): "the data of a record of type \(type) is malformed"
        case .badOptions: "the options of the DNS message are misplaced or double"
        case .trailingBytes(let count): "\(count) bytes behind the end of the DNS message"
        }
    }
}
