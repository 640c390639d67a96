import Foundation

/// By Foundation's search: a loop over a megabyte takes seconds in a build that is not optimised.
extension ArraySlice<UInt8> {
    /// Where `part` begins first; `nil` if it is not there.
    func place(of part: [UInt8]) -> Int? {
        Data(self).range(of: Data(part)).map { startIndex + $0.lowerBound }
    }

    /// The parts between line ends, without empty ones.
    var lines: [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = self
        while let end = rest.place(of: [13, 10]) {
            if end > rest.startIndex { lines.append(rest[..<end]) }
            rest = rest[(end + 2)...]
        }
        return rest.isEmpty ? lines : lines + [rest]
    }
}

extension String {
    /// Whether `part` stands in it, byte for byte.
    func holds(_ part: String) -> Bool {
        part.isEmpty || [UInt8](utf8)[...].place(of: [UInt8](part.utf8)) != nil
    }
}
