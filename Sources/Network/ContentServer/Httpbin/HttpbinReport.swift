internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer

/// What httpbin says of a request, in its JSON: names and shapes are those that suites of tests
/// know.
struct HttpbinReport {
    private var members: [(name: String, value: [UInt8])] = []

    /// As `/get` has it.
    init(_ request: ServerRequest) {
        add("args", Self.object(request.path.query.map { FormItem.parse($0[...]) } ?? []))
        add("headers", Self.headers(request))
        add("origin", .string(request.connection.host))
        add("url", .bytes(Self.url(of: request)))
    }

    /// As `/post` has it, and with the method as `/anything` has it.
    init(_ request: ServerRequest, content: [UInt8], namesMethod: Bool) {
        self.init(request)
        let type = request.fields.first(.contentType) ?? []
        let media = ParameterizedValue(type)
        var form: [FormItem] = []
        var files: [FormItem] = []
        var data = JSONText.string("")
        if media.text == "application/x-www-form-urlencoded" {
            form = FormItem.parse(content[...])
        } else if media.text == "multipart/form-data", let boundary = media["boundary"],
            let parts = MultipartReader.parts(
                of: content, boundary: boundary, limit: FormItem.limit)
        {
            for part in parts {
                let item = FormItem(name: part.name ?? [], value: [UInt8](part.content))
                if part.isFile { files.append(item) } else { form.append(item) }
            }
        } else {
            data = Self.text(content)
        }
        add("data", data)
        add("files", Self.object(files))
        add("form", Self.object(form))
        var json = [UInt8]("null".utf8)
        if let document = JSONDocument(content) {
            json = []
            document.append(JSONDocument.root, to: &json)
        }
        members.append(("json", json))
        if namesMethod { add("method", .bytes(request.method.name)) }
    }

    private mutating func add(_ name: String, _ value: JSONText) {
        members.append((name, value.line))
    }

    var response: ServerResponse {
        let lines = text(["\n  ", ",\n  "])
        return ServerResponse(
            200, [ResponseField("Content-Type", FileType.json)],
            body: .bytes(lines + [UInt8]("\n}\n".utf8)))
    }

    /// All of it in one line but the brace at its end, for others to go on.
    var opening: [UInt8] { text(["", ", "]) }

    /// - Parameter separators: what stands ahead of the first member, and of the others.
    private func text(_ separators: [String]) -> [UInt8] {
        var text = [UInt8]("{".utf8)
        for (index, member) in members.sorted(by: { $0.name < $1.name }).enumerated() {
            text += [UInt8](separators[min(index, 1)].utf8)
            text += JSONText.string(member.name).line + [UInt8](": ".utf8) + member.value
        }
        return text
    }

    /// Text as it is, all else as a data URL.
    private static func text(_ content: [UInt8]) -> JSONText {
        String(validating: content, as: UTF8.self).map(JSONText.string)
            ?? .string("data:application/octet-stream;base64," + Base64.encode(content))
    }

    /// A name that comes again has an array.
    private static func object(_ items: [FormItem]) -> JSONText {
        var order: [[UInt8]] = []
        var values: [[UInt8]: [JSONText]] = [:]
        for item in items {
            if values[item.name] == nil { order.append(item.name) }
            values[item.name, default: []].append(text(item.value))
        }
        return .object(
            order.map { name in
                let values = values[name] ?? []
                return JSONText.Member(name.text, values.count == 1 ? values[0] : .array(values))
            })
    }

    /// By names as HTTP/1 writes them, whatever case they came in; several are joined.
    static func headers(_ request: ServerRequest) -> JSONText {
        var order: [String] = []
        var values: [String: [UInt8]] = [:]
        for slice in request.fields.slices {
            let name = request.fields.name(slice).split(
                separator: UInt8(ascii: "-"), omittingEmptySubsequences: false
            ).map { word in
                String(word.prefix(1).text).uppercased() + word.dropFirst().text.lowercased()
            }.joined(separator: "-")
            let value = [UInt8](request.fields.value(slice))
            if let known = values[name] {
                values[name] = known + [0x2C] + value
            } else {
                order.append(name)
                values[name] = value
            }
        }
        return .object(order.map { JSONText.Member($0, .bytes(values[$0] ?? [])) })
    }

    static func url(of request: ServerRequest) -> [UInt8] {
        [UInt8](request.base.utf8) + request.path.target
    }
}

extension ServerRequest {
    /// Scheme and authority, as the client named them.
    var base: String {
        "\(scheme.rawValue)://\(fields.first(.host).map(\.text) ?? host ?? "localhost")"
    }
}
