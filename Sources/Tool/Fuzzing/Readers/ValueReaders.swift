internal import Base
internal import Contents
internal import Findings
internal import Traffic

extension FuzzedReader {
    static let structured: [FuzzedReader] = [values, contents]

    /// Contents that have a structure and are no text, by the first byte.
    private static let values = FuzzedReader(
        "values", isCut: false,
        words: ["bplist00", "<plist>", "<dict>", "<key>", "\u{82}", "query{", "\"\"\"", "$a:"],
        seeds: { structuredSeeds.enumerated().map { [UInt8($0.offset)] + $0.element } },
        run: { bytes, _, transcript in
            guard let first = bytes.first else { return }
            let content = Array(bytes.dropFirst())
            let found =
                switch first % 6 {
                case 0: MessagePackReader.read(content[...])
                case 1: CBORReader.read(content[...])
                case 2: ProtobufReader.read(content[...])
                case 3: ProtobufReader.read(calls: content)
                case 4: PropertyListReader.read(content)
                default: GraphQLReader.read(content[...])
                }
            Oracle.check(found.values.count <= 4096, "too many values")
            transcript.note("whole", found.isWhole ? 1 : 0)
            for value in found.values {
                Oracle.check(
                    value.path.count <= 32 && value.bytes.count <= 8192, "a value's bounds")
                transcript.note("path", text: value.path.map(\.text).joined(separator: "/"))
            }
            transcript.note("picture", ImageSize(content)?.width ?? 0)
            transcript.note("proof", text: StructuredContent.proven(content)?.form.rawValue ?? "")
        })

    /// Contents of requests in cleartext, looked through for passwords.
    private static let contents = FuzzedReader(
        "contents", isCut: false,
        words: ["password", "\"", "{", "data: ", "--b\r\n", "eyJ", "H4sI"],
        seeds: {
            structuredSeeds.enumerated().map { [UInt8($0.offset)] + $0.element }
                + [
                    [6] + Array("data: {\"password\":\"x\"}\n\n".utf8),
                    [7]
                        + Array(
                            #"{"d":"H4sIAAAAAAACA6tWKkgsLi7PL0pRslJQKskHQaVaAKNxRgsWAAAA"}"#.utf8),
                ]
        },
        run: { bytes, _, transcript in
            guard let first = bytes.first else { return }
            let types = [
                "application/msgpack", "application/cbor", "application/x-protobuf",
                "application/grpc", "application/x-plist", "application/graphql",
                "text/event-stream", "application/json", "multipart/mixed; boundary=b", "text/xml",
                "application/octet-stream",
            ]
            var record = ExchangeRecord(
                id: 1, connection: 1, startedAt: Timestamp(microseconds: 1), scheme: .http,
                authority: "a.example")
            let type = types[Int(first) % types.count]
            record.requestHead = Array("POST / HTTP/1.1\r\nContent-Type: \(type)\r\n\r\n".utf8)
            var engine = FindingsEngine(Sample.findings)
            let found = engine.observe(
                record, on: nil, requestBody: Array(bytes.dropFirst()), responseBody: [])
            for finding in found { transcript.note("finding", text: "\(finding.rule)") }
        })

    private static let structuredSeeds: [[UInt8]] = [
        [0x82, 0xA1, 0x61, 0xC3, 0xA8] + Array("password".utf8) + [0x92, 0xA1, 0x78, 0xCD, 1, 0],
        [
            0xBF, 0x61, 0x61, 0x7F, 0x61, 0x62, 0xFF, 0x61, 0x63, 0x9F, 0xF9, 0x3C, 0, 0xC1, 1,
            0xFF, 0xFF,
        ],
        [0x0A, 2, 0x68, 0x69, 0x12, 4, 0x0A, 2, 8, 1, 0x1D, 0, 0, 0xC0, 0x3F],
        [0, 0, 0, 0, 4, 0x0A, 2, 0x68, 0x69, 0x80, 0, 0, 0, 2, 0x61, 0x3A],
        Array("bplist00".utf8) + [0xD1, 1, 2, 0x51, 0x61, 0xA1, 3, 0x10, 7, 8, 11, 13, 15]
            + [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4] + [UInt8](repeating: 0, count: 15)
            + [17],
        Array(##"query A($a:Int=1){b(c:"d\u0065",e:[1,{f:true}],g:"""h"""){i}} # j"##.utf8),
    ]
}
