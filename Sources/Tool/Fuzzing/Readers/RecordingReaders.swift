internal import Base
internal import Contents

extension FuzzedReader {
    static let recordings: [FuzzedReader] = [recordedHeads, recordedURLs, multipart]

    private static let recordedHeads = FuzzedReader(
        "recorded-heads", lengthLimit: 4096, isCut: false,
        words: ["GET ", " HTTP/1.1", "\r\n", "\n ", "\r\n\t", ":", ":method: ", ": ", "Cookie"],
        seeds: {
            [
                "GET /a b HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n",
                ":method: GET\n:path: /\nA:b\n",
                "HTTP/1.1 200 OK\r\n folded: first\r\nno field\r\n: none\r\n\r\n",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            let head = RecordedHead(bytes)
            transcript.note("method", text: head.method.text)
            transcript.note("target", text: head.target.text)
            transcript.note("status", head.status)
            for field in head.fields { transcript.note("field", text: field.value.text) }
            transcript.note("lines", head.lines.count)
            transcript.note("malformed", head.isMalformed ? 1 : 0)
        })

    private static let recordedURLs = FuzzedReader(
        "recorded-urls", lengthLimit: 1024, isCut: false,
        words: ["http://", "://", "/", "?", "#", "@", ";", "&", "=", "%", "%41", "+", ":"],
        seeds: {
            ["https://u:p@h:1/a;b=c/d?e=%41&f+g#h", "/a?b", "h:443", "*"].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            let url = RecordedURL(bytes)
            transcript.note("authority", text: url.authority.text)
            transcript.note("path", text: url.path.text)
            for parameter in url.parameters + url.pathParameters {
                transcript.note("parameter", text: parameter.name.text)
                transcript.note("value", text: parameter.decoded.text)
            }
            let type = MediaType(bytes[...])
            transcript.note("json", type.isJSON ? 1 : 0)
            transcript.note("reported", SecretName.reported(bytes) == nil ? 0 : 1)
        })

    private static let multipart = FuzzedReader(
        "multipart", lengthLimit: 4096, isCut: false,
        words: [
            "--b", "--b--", "\r\n", "\r\n\r\n", "Content-Disposition: form-data; name=", "\"", ";",
            "filename=x", "Content-Type: ",
        ],
        seeds: {
            [
                "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n",
                "x\n--b\n\n--b\nA:\n b\n\nc\n--b--\n--b\n",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            guard let reader = MultipartReader(bytes, boundary: [UInt8(ascii: "b")]) else { return }
            let sections = reader.flatMap { bytes[$0.delimiter] + bytes[$0.range] }
            precondition(sections == bytes, "the sections are not the content")
            let parts = MultipartReader.parts(of: bytes, boundary: [UInt8(ascii: "b")], limit: 64)
            for part in parts ?? [] {
                transcript.note("name", text: part.name?.text ?? "")
                transcript.note("content", text: part.content.text)
            }
        })
}
