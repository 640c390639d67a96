import Foundation
import Testing

extension RealClientTests {
    /// What `flows show --as` prints is run, and has to send what was recorded.
    struct SnippetTests {
        @Test(.needs(.curl, .python)) func curl() async throws {
            let snippets = try await Snippets(.curl)
            for (number, text) in snippets.texts { try await snippets.run(text, number) }
            try snippets.expectSameRequests()
        }

        @Test(.needs(.httpie, .python)) func httpie() async throws {
            let snippets = try await Snippets(.httpie)
            for (number, text) in snippets.texts { try await snippets.run(text, number) }
            try snippets.expectSameRequests()
        }

        @Test(.needs(.node, .python)) func fetch() async throws {
            let snippets = try await Snippets(.fetch)
            for (number, text) in snippets.texts {
                try await snippets.makeFile(named: text)
                let file = try snippets.folder.write("\(number).mjs", text)
                try await Program.run(.node, [file], in: snippets.folder)
            }
            try snippets.expectSameRequests()
        }

        @Test(.needs(.swiftCompiler, .python)) func urlSession() async throws {
            let snippets = try await Snippets(.urlsession)
            var lines = ["import Foundation", "import FoundationNetworking"]
            #if os(macOS)
                lines.removeLast()
            #endif
            for (number, text) in snippets.texts {
                try await snippets.makeFile(named: text)
                let piece = text.split(separator: "\n").filter { $0 != "import Foundation" }
                lines += ["do {"] + piece.map(String.init)
                lines += ["} catch { print(\(number), error) }"]
            }
            let path = try snippets.folder.write("main.swift", lines.joined(separator: "\n"))
            let program = snippets.folder.path("snippets")
            try await Program.run(
                .swiftCompiler, ["-suppress-warnings", path, "-o", program], in: snippets.folder,
                within: .seconds(300))
            let said = try await Program.run(
                Peer("snippets", at: program), [], in: snippets.folder)
            #expect(said.isEmpty, "\(String(decoding: said, as: UTF8.self))")
            try snippets.expectSameRequests()
        }

        /// Without `--with-secrets`, what runs holds none.
        @Test(.needs(.curl, .python)) func sendsNoSecrets() async throws {
            let snippets = try await Snippets(.curl, withSecrets: false)
            for (number, text) in snippets.texts where SnippetRow.all[number].holdsSecrets {
                try await snippets.run(text, number)
            }
            let sent = try snippets.origin.requests().dropFirst(SnippetRow.all.count)
            #expect(sent.count == SnippetRow.all.filter(\.holdsSecrets).count && !sent.isEmpty)
            for request in sent {
                let text = request.fields.map { $0[1] }.joined() + request.target
                #expect(!text.contains(Login.password) && !request.body.holds(Login.password))
                #expect(!text.contains(Login.plain))
            }
        }
    }
}

/// Requests that went through the proxy, and what it prints to send them again.
private struct Snippets {
    let form: SnippetForm
    let folder: Folder
    let origin: RecordingOrigin
    /// By the number of their row.
    private(set) var texts: [(Int, String)] = []

    init(_ form: SnippetForm, withSecrets: Bool = true) async throws {
        self.form = form
        folder = try Folder()
        origin = try await RecordingOrigin(in: folder)
        let path = folder.path("it's \"recorded\".sallyport")
        let capture = Capture(path: path, folder: folder)
        let authority = try await TestAuthority(in: folder)
        let proxy = try await ProxyProcess(
            trusting: authority, reverse: nil, in: folder, capture: "it's \"recorded\".sallyport")
        let port = try #require(proxy.address.split(separator: ":").last.flatMap { UInt16($0) })
        for (number, row) in SnippetRow.all.enumerated() {
            let connection = try RawConnection(port: port)
            try await connection.send(row.bytes(number, origin.address))
            var head = try await connection.receiveHead()
            if head.hasPrefix("HTTP/1.1 100") { head = try await connection.receiveHead() }
            #expect(head.hasPrefix("HTTP/1.1 200"), "\(row.name): \(head)")
        }
        try await proxy.end()
        try #require(try await capture.flows().count == SnippetRow.all.count)
        for (number, row) in SnippetRow.all.enumerated() where !row.refusedBy.contains(form) {
            let text = try await Program.run(
                .sallyport,
                ["flows", "show", path, "\(number + 1)", "--as", form.rawValue]
                    + (withSecrets ? ["--with-secrets"] : []), in: folder)
            texts.append((number, String(decoding: text, as: UTF8.self)))
        }
    }

    /// Runs what a shell is to take, in the plainest shell there is.
    func run(_ text: String, _ number: Int) async throws {
        let folders = [Peer.sallyport, .httpie, .curl].compactMap(\.path).map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().path
        }
        let file = try folder.write("\(number).sh", text)
        try await Program.run(
            Peer("sh"), ["-e", file], in: folder,
            variables: ["PATH": (folders + ["/usr/bin", "/bin"]).joined(separator: ":")])
    }

    /// Does what the comment above a file's name says.
    func makeFile(named text: String) async throws {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("// sallyport") })
        else { return }
        try await run(String(line.dropFirst(3)), -1)
    }

    func expectSameRequests() throws {
        let requests = try origin.requests()
        let recorded = Array(requests.prefix(SnippetRow.all.count))
        let sent = requests.dropFirst(SnippetRow.all.count)
        #expect(sent.count == texts.count)
        for (number, text) in texts {
            let mark = "/\(number)/"
            guard let again = sent.first(where: { $0.target.hasPrefix(mark) }),
                let first = recorded.first(where: { $0.target.hasPrefix(mark) })
            else {
                Issue.record("\(SnippetRow.all[number].name) was not sent:\n\(text)")
                continue
            }
            let what = Comment(rawValue: "\(form), \(SnippetRow.all[number].name):\n\(text)")
            #expect(again.method == first.method, what)
            #expect(form.spelling(of: again.target) == form.spelling(of: first.target), what)
            #expect(again.body == first.body, what)
            expectSameFields(first.values, again.values, what)
        }
    }

    private func expectSameFields(
        _ first: [String: String], _ again: [String: String], _ what: Comment
    ) {
        let framing = ["connection", "content-length", "expect", "transfer-encoding"]
        for (name, value) in first where !framing.contains(name) {
            // A list is the same with and without spaces.
            let same = again[name]?.replacing(", ", with: ",") == value.replacing(", ", with: ",")
            #expect(same, "\(name): \(again[name] ?? "nothing") for \(value); \(what)")
        }
        let added = Set(again.keys).subtracting(first.keys).subtracting(framing)
        #expect(added.subtracting(form.added).isEmpty, what)
        // Some servers want it of a request that has no content.
        if first["content-length"] == "0" { #expect(again["content-length"] == "0", what) }
    }
}

private enum SnippetForm: String, Sendable {
    case curl, httpie, fetch, urlsession

    /// The fields that a client sends besides, and cannot be told to leave out.
    var added: Set<String> {
        switch self {
        case .curl, .httpie: []
        case .fetch:
            ["accept", "accept-encoding", "accept-language", "sec-fetch-mode", "user-agent"]
        case .urlsession:
            ["accept", "accept-encoding", "accept-language", "content-type", "user-agent"]
        }
    }

    /// A target as it is compared: only curl leaves every character as it is.
    func spelling(of target: String) -> String {
        self == .curl ? target : target.removingPercentEncoding ?? target
    }
}

private struct SnippetRow: Sendable {
    let name: String
    let method: String
    /// After the number of the row.
    var target = ""
    var fields: [String] = []
    var body = Data()
    /// Clients that cannot send such a thing.
    var refusedBy: [SnippetForm] = []
    var holdsSecrets = false

    func bytes(_ number: Int, _ address: String) -> Data {
        var lines = [
            "\(method) http://\(address)/\(number)/\(target) HTTP/1.1", "Host: \(address)",
        ]
        lines += fields
        if !body.isEmpty || method == "POST" { lines.append("Content-Length: \(body.count)") }
        lines.append("Connection: close")
        let head = lines.joined(separator: "\r\n") + "\r\n\r\n"
        // A byte for each character, but for what is meant as UTF-8.
        return Data(
            head.unicodeScalars.flatMap { scalar in
                scalar.value == 0xE9 ? [0xE9] : Array(String(scalar).utf8)
            }) + body
    }

    static let all = [
        SnippetRow(
            name: "quotation marks and signs", method: "GET",
            target: "it's?a=%22b%22&c=[1]{2}|^&d=$HOME`id`!x%20y&e=*~@:;,",
            fields: [
                "User-Agent: o'hara/1.0 \"x\"", "X-Quoted: \"it's\" \\ $(id) `id` !! $HOME %s %",
                "X-Equals: =x", "X-At: @/etc/hostname", "X-Colon: :=1;2", "X-Empty:",
                "X-Text: gr\u{FC}\u{DF}e \u{2013} \u{2713}", "Accept: text/html", "Accept: */*",
                "Accept-Language: de", "Cookie: a=1; b=\"2\"", "X-Twice: 1", "X-Twice: 2",
            ]),
        SnippetRow(
            name: "bytes that are no UTF-8", method: "GET",
            fields: ["X-Latin: caf\u{E9} 100% 'a'\\"],
            refusedBy: [.httpie, .urlsession]),
        SnippetRow(name: "HEAD", method: "HEAD", target: "a?b", fields: ["Accept: */*"]),
        SnippetRow(
            name: "a form", method: "POST", fields: [form], body: Data("a=1&b=%20+&c=@x&d='".utf8)),
        SnippetRow(
            name: "JSON", method: "POST",
            fields: ["Content-Type: application/json", "Authorization: Basic \(Login.plain)"],
            body: Data(
                "{\"a\": \"it's \\\"$HOME\\\" `id` !!\",\r\n\t\"b\": \"\u{E4}\u{2028}\"}\n".utf8)
        ),
        SnippetRow(
            name: "a content like a file's name", method: "POST",
            fields: ["Content-Type: text/plain"],
            body: Data("@/etc/hostname".utf8)),
        SnippetRow(
            name: "lines at the end", method: "POST", fields: ["Content-Type: text/plain"],
            body: Data("\na'\n\n".utf8)),
        SnippetRow(
            name: "zero bytes, no type", method: "PUT", body: Data([0, 1, 0xFF, 0x27, 0x0A, 0])),
        SnippetRow(name: "text of no type", method: "PATCH", body: Data("--x=1 \\".utf8)),
        SnippetRow(
            name: "Expect", method: "PUT", fields: ["Expect: 100-continue", form],
            body: Data("a=1".utf8)),
        SnippetRow(name: "DELETE", method: "DELETE", target: "a;b=c"),
        SnippetRow(name: "no content", method: "POST", fields: ["Accept: */*"]),
        SnippetRow(
            name: "a long content", method: "POST", fields: ["Content-Type: text/plain"],
            body: Data((0..<100_000).map { UInt8(truncatingIfNeeded: 0x20 + $0 % 90) })),
        SnippetRow(
            name: "GET with a content", method: "GET", fields: ["Content-Type: text/plain"],
            body: Data("x".utf8), refusedBy: [.fetch, .urlsession]),
        SnippetRow(
            name: "dots in the path", method: "GET", target: "a/../b/./c",
            refusedBy: [.fetch, .urlsession]),
        SnippetRow(
            name: "a range", method: "GET", fields: ["Range: bytes=0-1"]),
        SnippetRow(
            name: "codings", method: "GET",
            fields: ["Accept-Encoding: gzip, br"]),
        SnippetRow(
            name: "secrets", method: "POST", target: "?access_token=\(Login.password)",
            fields: [
                form, "Authorization: Basic \(Login.plain)", "Cookie: session=\(Login.password)",
            ], body: Data("user=nora&password=\(Login.password)".utf8), holdsSecrets: true),
    ]

    private static let form = "Content-Type: application/x-www-form-urlencoded"
}
