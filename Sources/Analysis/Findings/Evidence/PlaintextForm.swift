/// In what form a stream was readable; the raw values are shown.
package enum PlaintextForm: String, Sendable {
    case json = "JSON"
    case markup = "XML"
    case text = "text"
    case words = "text among other bytes"
    case plist = "a property list"
    case msgpack = "MessagePack"
    case cbor = "CBOR"
    case protobuf = "Protocol Buffers"
    case dns = "DNS"
    case media = "a file of a known format"
    case packed = "compressed text"
    case packedBytes = "compressed content"
}
