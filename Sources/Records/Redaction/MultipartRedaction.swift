internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Masks the secrets of a multipart content (RFC 2046 §5.1, RFC 7578): fields with secret names,
/// and what is secret inside of parts that can be looked into. Parts that are files stay.
enum MultipartRedaction {
    /// Returns `nil` if the boundary is not in the content.
    ///
    /// - Parameters:
    ///   - isForm: whether every part has to have a name; one without is masked.
    ///   - depth: inside of how many other contents it was found.
    static func redact(
        _ content: [UInt8], boundary: [UInt8], isForm: Bool, depth: Int
    ) -> [UInt8]? {
        guard !boundary.isEmpty, boundary.count <= boundaryLimit else { return nil }
        var reader = LineWalk(content, delimiter: Array("--".utf8) + boundary)
        guard let first = reader.nextDelimiter() else { return nil }
        // Nobody should read what is outside of the parts, so it has no name either.
        var result = hidden(content[..<first.lowerBound])
        var delimiter = first
        while true {
            result += content[delimiter]
            let next = reader.nextDelimiter()
            let part = content[delimiter.upperBound..<(next?.lowerBound ?? content.count)]
            let isEpilogue = isClosing(content[delimiter], boundary)
            result += isEpilogue ? hidden(part) : redact(part: part, isForm: isForm, depth: depth)
            guard let next else { return result }
            delimiter = next
        }
    }

    /// Finds the lines that begin with the delimiter, one after another.
    private struct LineWalk {
        private let content: [UInt8]
        private let delimiter: [UInt8]
        private var index = 0

        init(_ content: [UInt8], delimiter: [UInt8]) {
            self.content = content
            self.delimiter = delimiter
        }

        /// Where the next such line is, with the line end after it; `nil` if there is none.
        mutating func nextDelimiter() -> Range<Int>? {
            while index < content.count {
                let start = index
                let end = content[start...].firstIndex(of: newline).map { $0 + 1 } ?? content.count
                index = end
                if content[start..<end].starts(with: delimiter) { return start..<end }
            }
            return nil
        }
    }

    private static func isClosing(_ line: ArraySlice<UInt8>, _ boundary: [UInt8]) -> Bool {
        line.dropFirst(2 + boundary.count).starts(with: Array("--".utf8))
    }

    private static func redact(
        part: ArraySlice<UInt8>, isForm: Bool, depth: Int
    ) -> [UInt8] {
        guard let head = headEnd(of: part) else { return hidden(part) }
        let fields = part[..<head]
        let names = RecordedHead(trailers: Array(fields))
        let dispositions = names.values(named: "content-disposition")
            .map(ParameterizedValue.init)
        let partNames = dispositions.flatMap { [$0["name"], $0["name*"]].compactMap(\.self) }
        let types = names.values(named: "content-type")
        let shownHead = HeadRedaction.redact(trailers: Array(fields))
        let content = part[head...].withoutLineEnd
        let lineEnd = part[content.endIndex...]
        let isSecret = partNames.contains {
            SecretName.isParameter(URLRedaction.percentDecoded($0[...])[...])
        }
        if isSecret || isForm && partNames.isEmpty {
            return shownHead + (content.isEmpty ? [] : redactionMark) + lineEnd
        }
        let isFile = dispositions.contains { $0["filename"] != nil || $0["filename*"] != nil }
        return shownHead + shown(Array(content), types, isFile: isFile, depth: depth) + lineEnd
    }

    private static func shown(
        _ content: [UInt8], _ types: [ArraySlice<UInt8>], isFile: Bool, depth: Int
    ) -> [UInt8] {
        guard depth < depthLimit else { return redactionMark }
        switch ContentRedaction.redact(content, types: types, isWhole: true, depth: depth + 1) {
        case .understood(let redacted): return redacted
        case .malformed: return redactionMark
        case .opaque where isFile: return content
        case .opaque: return ValueRedaction.redact(content, depth: depth + 1) ?? content
        }
    }

    /// Where the content of a part starts, `nil` if its fields do not end.
    private static func headEnd(of part: ArraySlice<UInt8>) -> Int? {
        var start = part.startIndex
        while let end = part[start...].firstIndex(of: newline) {
            if part[start..<end].allSatisfy({ $0 == 0x0D }) { return end + 1 }
            start = end + 1
        }
        return nil
    }

    /// A mask for all but white space.
    private static func hidden(_ text: ArraySlice<UInt8>) -> [UInt8] {
        if text.allSatisfy({ $0.isJSONSpace }) { return Array(text) }
        return redactionMark + text[text.withoutLineEnd.endIndex...]
    }

    private static let newline = UInt8(ascii: "\n")
    /// A boundary has at most 70 characters (RFC 2046 §5.1.1); some clients exceed it.
    private static let boundaryLimit = 256
    /// How many contents inside of one another are looked into; what is deeper is masked.
    private static let depthLimit = 3
}

extension ArraySlice<UInt8> {
    /// Without the line end that belongs to the delimiter after it.
    fileprivate var withoutLineEnd: ArraySlice<UInt8> {
        guard last == UInt8(ascii: "\n") else { return self }
        let line = dropLast()
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}
