internal import Base
internal import Replay

/// A path in which what names one thing of many is left open: `/users/{}/orders/{}`.
enum PathTemplate {
    /// - Parameter path: without a query.
    static func text(_ path: ArraySlice<UInt8>) -> String {
        var result = ""
        visit(path) { segment, isOpen in
            result += "/" + (isOpen ? "{}" : segment.text)
        }
        return result.isEmpty ? "/" : result
    }

    /// The same as a rule's scope has it: `/users/*/orders/*`.
    static func pattern(_ path: ArraySlice<UInt8>) -> String {
        var result = ""
        visit(path) { segment, isOpen in
            result += "/" + (isOpen ? "*" : Glob.literal(segment.text))
        }
        return result.isEmpty ? "/" : result
    }

    /// Hashes the template without making it.
    static func hash(_ path: ArraySlice<UInt8>, into hasher: inout Hasher) {
        visit(path) { segment, isOpen in
            if isOpen {
                hasher.combine(UInt8(0x7B))
            } else {
                unsafe segment.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
            }
            hasher.combine(UInt8(0x2F))
        }
    }

    private static func visit(
        _ path: ArraySlice<UInt8>, _ visit: (ArraySlice<UInt8>, _ isOpen: Bool) -> Void
    ) {
        var start = path.first == 0x2F ? path.startIndex + 1 : path.startIndex
        while start <= path.endIndex {
            var end = start
            while end < path.endIndex, path[end] != 0x2F { end += 1 }
            let segment = path[start..<end]
            visit(segment, namesOneOfMany(segment))
            start = end + 1
        }
    }

    /// A number, a UUID, a digest, or another long name with digits in it.
    private static func namesOneOfMany(_ segment: ArraySlice<UInt8>) -> Bool {
        guard !segment.isEmpty else { return false }
        var digits = 0
        var others = 0
        for byte in segment {
            if byte.isASCIIDigit {
                digits += 1
            } else if byte != 0x2D, byte.hexDigitValue == nil {
                others += 1
            }
        }
        if digits == segment.count { return true }
        if others == 0 { return segment.count >= 8 && digits > 0 }
        return segment.count >= 20 && digits >= 2
    }
}
