internal import Base
internal import HTTPModel

/// A recorded head read for showing and filtering: malformed ones too, as far as they go.
package struct RecordedHead {
    /// The first line without its line end.
    package let startLine: ArraySlice<UInt8>
    private let section: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        startLine = bytes[..<end].withoutReturn
        section = bytes[min(end + 1, bytes.endIndex)...]
    }

    /// The method of a request, empty if there is none.
    package var method: ArraySlice<UInt8> { startLine.prefix { $0 != UInt8(ascii: " ") } }

    /// The target of a request: what is between the method and the version, spaces included.
    package var target: ArraySlice<UInt8> {
        let rest = startLine.dropFirst(method.count + 1)
        guard let last = rest.lastIndex(of: UInt8(ascii: " ")),
            rest[(last + 1)...].starts(with: Array("HTTP/".utf8))
        else { return rest }
        return rest[..<last]
    }

    /// The lines of the fields, without their ends.
    package var lines: [ArraySlice<UInt8>] {
        section.split(separator: UInt8(ascii: "\n")).map(\.withoutReturn).filter { !$0.isEmpty }
    }

    /// The values of the fields of this name in any case, in wire order, folded lines left out.
    package func values(named lowercased: [UInt8]) -> [ArraySlice<UInt8>] {
        var values: [ArraySlice<UInt8>] = []
        for line in section.split(separator: UInt8(ascii: "\n")) {
            guard line.first != UInt8(ascii: " "), line.first != UInt8(ascii: "\t"),
                let colon = line.firstIndex(of: UInt8(ascii: ":"))
            else { continue }
            let name = line[..<colon].trimmingWhitespace
            guard name.count == lowercased.count,
                zip(name, lowercased).allSatisfy({ $0.asciiLowercased == $1 })
            else { continue }
            values.append(line[(colon + 1)...].withoutReturn.trimmingWhitespace)
        }
        return values
    }
}

extension ArraySlice<UInt8> {
    fileprivate var withoutReturn: ArraySlice<UInt8> {
        last == UInt8(ascii: "\r") ? dropLast() : self
    }
}
