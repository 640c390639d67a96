internal import Base
internal import Contents

/// Commands for a shell.
extension RequestSnippet {
    var curl: String {
        var words = ["--globoff", "--path-as-is"]
        let isHead = method.elementsEqual("HEAD".utf8)
        if isHead { words.append("--head") }
        if !isHead, !method.elementsEqual("GET".utf8) || content != .none || saysLength {
            words.append("--request \(ShellText.quoted(method))")
        }
        words += fields.map { field in
            // A name with a colon alone would take a field of curl's own away.
            let line = field.value.isEmpty ? field.name + [0x3B] : field.name + [0x3A, 0x20]
            return "--header \(ShellText.quoted(line + field.value))"
        }
        words += ownFields(of: ["User-Agent", "Accept"]).map { "--header '\($0):'" }
        if content != .none || saysLength, !has("content-type") {
            words.append("--header 'Content-Type:'")
        }
        if has("accept-encoding") { words.append("--compressed") }
        switch content {
        // Some servers want the length of a content that is empty.
        case .none where saysLength && !isHead: words.append("--data-raw ''")
        case .none: break
        // `--data-binary` would take what begins with @ for the name of a file.
        case .bytes(let bytes) where isWord(bytes):
            words.append("--data-raw \(ShellText.quoted(bytes))")
        case .bytes, .recorded: words.append("--data-binary @-")
        }
        words.append("--url \(ShellText.quoted(recordedURL))")
        return pipe + (["curl"] + words).joined(separator: " \\\n  ") + "\n"
    }

    var httpie: String {
        var words = ["--path-as-is"]
        var isPiped = false
        switch content {
        case .none: words.append("--ignore-stdin")
        case .bytes(let bytes) where isWord(bytes):
            words += ["--ignore-stdin", "--raw=\(ShellText.quoted(bytes))"]
        case .bytes, .recorded: isPiped = true
        }
        // A method, and the name of a field, may begin as an option does, such as --output's.
        let dash = UInt8(ascii: "-")
        let mark = method.first == dash || fields.contains { $0.name.first == dash } ? "-- " : ""
        words.append("\(mark)\(ShellText.quoted(method)) \(ShellText.quoted(url))")
        words += fields.map { field in
            if field.value.isEmpty { return ShellText.quoted(field.name + [0x3B]) }
            // What follows the colon would name a file, or make it JSON.
            let isSign = [UInt8(ascii: "="), UInt8(ascii: "@")].contains(field.value[0])
            return ShellText.quoted(field.name + (isSign ? [0x3A, 0x5C] : [0x3A]) + field.value)
        }
        words += ownFields(of: ["User-Agent", "Accept", "Accept-Encoding"]).map { "'\($0):'" }
        if content != .none, !has("content-type") { words.append("'Content-Type:'") }
        return (isPiped ? pipe : "") + (["http"] + words).joined(separator: " \\\n  ") + "\n"
    }

    /// Fields that a client adds unless it is told not to.
    private func ownFields(of names: [String]) -> [String] {
        names.filter { name in
            let wanted = Array(name.lowercased().utf8)
            return !fields.contains { $0.name.map(\.asciiLowercased) == wanted }
        }
    }

    /// Whether a content can be one word.
    private func isWord(_ bytes: [UInt8]) -> Bool { ShellText.isPlain(bytes) }

    /// What writes a content that is no word.
    private var pipe: String {
        switch content {
        case .none: ""
        case .bytes(let bytes) where isWord(bytes): ""
        case .bytes(let bytes): "printf %s '\(Base64.encode(bytes))' | base64 -d | "
        case .recorded: "\(source) | "
        }
    }
}
