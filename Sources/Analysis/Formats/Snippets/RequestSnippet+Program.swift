internal import Base
internal import Contents

/// Pieces of programs.
extension RequestSnippet {
    var fetch: String {
        var lines: [String] = []
        var options = ["  method: \(Self.script(method.text)),"]
        if !fields.isEmpty {
            options.append("  headers: [")
            options += fields.map { field in
                // A string of bytes: each character is one.
                "    [\(Self.script(field.name.text)), \(Self.script(Self.latin1(field.value)))],"
            }
            options.append("  ],")
        }
        switch content {
        case .none: break
        case .bytes(let bytes):
            if ShellText.isPlain(bytes) {
                let text = Self.script(bytes.text)
                // To a string, it adds a type.
                options.append(
                    has("content-type")
                        ? "  body: \(text)," : "  body: new TextEncoder().encode(\(text)),")
            } else {
                options.append(
                    "  body: Uint8Array.from(atob(\"\(Base64.encode(bytes))\"),"
                        + " (c) => c.charCodeAt(0)),")
            }
        case .recorded:
            lines.append("// \(fileComment)")
            lines.append("const { readFile } = await import(\"node:fs/promises\");")
            options.append("  body: await readFile(\"\(fileName)\"),")
        }
        options.append("  redirect: \"manual\",")
        if content != .none, ["GET", "HEAD"].contains(method.text) {
            lines.append("// fetch refuses a \(method.text) with a content.")
        }
        lines.append("const response = await fetch(\(Self.script(url.text)), {")
        return (lines + options + ["});"]).joined(separator: "\n") + "\n"
    }

    var urlSession: String {
        var lines = [
            "import Foundation", "",
            "var request = URLRequest(url: URL(string: \(Self.swift(strictURL)))!)",
            "request.httpMethod = \(Self.swift(method.text))",
        ]
        lines += fields.map { field in
            let value = ShellText.isPlain(field.value) ? field.value.text : Self.latin1(field.value)
            return "request.addValue(\(Self.swift(value)), forHTTPHeaderField:"
                + " \(Self.swift(field.name.text)))"
        }
        switch content {
        case .none: break
        case .bytes(let bytes) where ShellText.isPlain(bytes):
            lines.append("request.httpBody = Data(\(Self.swift(bytes.text)).utf8)")
        case .bytes(let bytes):
            lines.append("request.httpBody = Data(base64Encoded: \"\(Base64.encode(bytes))\")!")
        case .recorded:
            lines.append("// \(fileComment)")
            lines.append(
                "request.httpBody = try Data(contentsOf: URL(fileURLWithPath: \"\(fileName)\"))")
        }
        lines.append("let (data, response) = try await URLSession.shared.data(for: request)")
        return lines.joined(separator: "\n") + "\n"
    }

    /// With brackets only around an address: Foundation encodes all of a URL anew, and each percent
    /// sign of it, if there is one character that may not stand there (RFC 3986 §3.3).
    private var strictURL: String {
        let text = url.text
        guard let slash = text.dropFirst("https://".count).firstIndex(of: "/") else { return text }
        let target = text[slash...].replacing("[", with: "%5B").replacing("]", with: "%5D")
        return String(text[..<slash]) + target
    }

    private var fileName: String { "request-\(exchange).body" }

    private var fileComment: String {
        // A comment ends with its line.
        let command = source.replacingLineEnds
        return "\(command) > \(fileName)"
    }

    private static func latin1(_ bytes: [UInt8]) -> String {
        var result = ""
        for byte in bytes { result.unicodeScalars.append(Unicode.Scalar(byte)) }
        return result
    }

    /// A string of JavaScript.
    private static func script(_ text: String) -> String {
        quoted(text) { scalar in
            let units = String(scalar).utf16
            return units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    /// A string of Swift.
    private static func swift(_ text: String) -> String {
        quoted(text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    private static func quoted(_ text: String, escape: (Unicode.Scalar) -> String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                let isPlain = ShellText.isPlain(Array(String(scalar).utf8))
                result += isPlain ? String(scalar) : escape(scalar)
            }
        }
        return result + "\""
    }
}

extension String {
    fileprivate var replacingLineEnds: String {
        String(
            String.UnicodeScalarView(unicodeScalars.map { $0.properties.isWhitespace ? " " : $0 }))
    }
}
