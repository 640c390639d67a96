internal import Base
internal import HTTPModel

/// Of `HTTP/1.`, in bytes.
private let minorPlace = 7

/// Brings a head or trailer section of a response into the form that RFC 9112 has for it, where that
/// can be done without a guess; the strict reader then judges the result.
struct ResponseHeadRepair {
    private(set) var output: [UInt8] = []
    private(set) var used: HeadLeniency = []
    /// How long the section is as it came, in bytes.
    private(set) var consumed = 0
    private var fieldCount = 0

    /// - Parameter hasStatusLine: whether the first line is none of the fields.
    /// - Returns: `nil` if the section has not come whole yet.
    init?(
        _ bytes: Span<UInt8>, hasStatusLine: Bool, limits: HeadLimits
    ) throws(HTTP1Violation) {
        let limit = limits.blockLimit
        var lineStart = 0
        var isFirst = hasStatusLine
        output.reserveCapacity(min(bytes.count, limit))
        while true {
            guard let end = Self.endOfLine(in: bytes, from: lineStart) else {
                if bytes.count >= limit { throw .headTooLarge }
                return nil
            }
            guard end < limit else { throw .headTooLarge }
            let hasReturn = end > lineStart && bytes[end - 1] == carriageReturn
            if !hasReturn { used.insert(.bareLF) }
            let line = bytes.extracting(lineStart..<(hasReturn ? end - 1 : end))
            lineStart = end + 1
            if line.isEmpty, !isFirst { break }
            add(line, isStatusLine: isFirst)
            guard fieldCount <= limits.fieldCountLimit else { throw .tooManyFields }
            isFirst = false
        }
        output += [carriageReturn, lineFeed]
        consumed = lineStart
    }

    private static func endOfLine(in bytes: Span<UInt8>, from start: Int) -> Int? {
        var position = start
        while position < bytes.count {
            position = bytes.firstControl(from: position, to: bytes.count)
            guard position < bytes.count else { return nil }
            if bytes[position] == lineFeed { return position }
            position += 1
        }
        return nil
    }

    private mutating func add(_ line: Span<UInt8>, isStatusLine: Bool) {
        if isStatusLine {
            append(line)
            lowerVersion()
        } else if !line.isEmpty, line[0].isBlank, fieldCount > 0 {
            // In the place of the line's end and all the white space around it (RFC 9112 §5.2).
            used.insert(.obsoleteFold)
            output.removeLast(2)
            while let last = output.last, last.isBlank { output.removeLast() }
            var start = 0
            while start < line.count, line[start].isBlank { start += 1 }
            output.append(space)
            append(line.extracting(start..<line.count))
        } else {
            append(fieldLine: line)
            fieldCount += 1
        }
        output += [carriageReturn, lineFeed]
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
    }

    private mutating func lowerVersion() {
        guard output.starts(with: "HTTP/1.".utf8), output.count > minorPlace else { return }
        let minor = output[minorPlace]
        guard minor.isASCIIDigit, minor > UInt8(ascii: "1") else { return }
        used.insert(.higherVersion)
        output[minorPlace] = UInt8(ascii: "1")
    }

    /// Without the white space before the colon.
    private mutating func append(fieldLine line: Span<UInt8>) {
        var name = 0
        while name < line.count, line[name].isTokenByte { name += 1 }
        var colon = name
        while colon < line.count, line[colon].isBlank { colon += 1 }
        guard name > 0, colon > name, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            return append(line)
        }
        used.insert(.spaceBeforeColon)
        append(line.extracting(0..<name))
        append(line.extracting(colon..<line.count))
    }
}

/// Settles what the fields of a response say of its length, where a recipient may (RFC 9112 §6.3).
enum ResponseLengthRepair {
    /// - Returns: `nil` if there is nothing to settle, or it cannot be.
    static func settle(_ head: ResponseHead, _ allowed: HeadLeniency) -> (
        section: [UInt8], used: HeadLeniency
    )? {
        var lengths = 0
        var codings = 0
        var isList = false
        for slice in head.fields.slices {
            switch slice.known {
            case .contentLength:
                lengths += 1
                isList = isList || head.fields.value(slice).contains(UInt8(ascii: ","))
            case .transferEncoding: codings += 1
            default: continue
            }
        }
        guard codings == 0 else {
            guard codings == 1, let used = codingRepair(head, lengths) else { return nil }
            guard allowed.contains(used) else { return nil }
            switch used {
            case .oldChunks: return (ofVersion11(head.fields), used)
            case .identityCoding:
                return (section(of: head.fields, without: .transferEncoding), used)
            default: return (section(of: head.fields, without: .contentLength), used)
            }
        }
        guard lengths > 1 || isList, allowed.contains(.repeatedLength),
            let length = commonLength(head.fields)
        else { return nil }
        return (
            section(of: head.fields, without: .contentLength, but: length), .repeatedLength
        )
    }

    /// What is to be mended of a head with one Transfer-Encoding, if it can be without a guess.
    private static func codingRepair(_ head: ResponseHead, _ lengths: Int) -> HeadLeniency? {
        guard let coding = head.fields.first(.transferEncoding) else { return nil }
        if coding.equalsIgnoringCase("identity") { return lengths <= 1 ? .identityCoding : nil }
        // In a response that may have content.
        guard coding.equalsIgnoringCase("chunked"), head.status >= 200, head.status != 204,
            head.status != 304
        else { return nil }
        if case .http10 = head.version { return lengths == 0 ? .oldChunks : nil }
        return lengths > 0 ? .bothLengths : nil
    }

    /// The section as one of HTTP/1.1, which has chunks, and of the last message of its connection.
    private static func ofVersion11(_ fields: Fields) -> [UInt8] {
        var section = fields.raw
        section[minorPlace] = UInt8(ascii: "1")
        section.removeLast(2)
        HeadWriter.append("Connection: close\r\n\r\n", to: &section)
        return section
    }

    /// The number that all of them say, in the same digits.
    private static func commonLength(_ fields: Fields) -> ArraySlice<UInt8>? {
        var common: ArraySlice<UInt8>?
        for value in fields.all(.contentLength) {
            for element in value.split(
                separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            {
                let number = element.trimmingWhitespace
                guard !number.isEmpty, number.allSatisfy(\.isASCIIDigit) else { return nil }
                guard common.map({ $0.elementsEqual(number) }) ?? true else { return nil }
                common = number
            }
        }
        return common
    }

    /// The section without a field, or with one value of it where the first was.
    private static func section(
        of fields: Fields, without field: KnownField, but value: ArraySlice<UInt8>? = nil
    ) -> [UInt8] {
        var section: [UInt8] = []
        section.reserveCapacity(fields.raw.count)
        var copied = 0
        var isFirst = true
        for (index, slice) in fields.slices.enumerated() where slice.known == field {
            section += fields.raw[copied..<Int(slice.nameStart)]
            if isFirst, let value {
                section += fields.name(slice)
                HeadWriter.append(": ", to: &section)
                section += value
                HeadWriter.append("\r\n", to: &section)
            }
            isFirst = false
            copied =
                index + 1 < fields.slices.count
                ? Int(fields.slices[index + 1].nameStart) : fields.raw.count - 2
        }
        return section + fields.raw[copied...]
    }
}
