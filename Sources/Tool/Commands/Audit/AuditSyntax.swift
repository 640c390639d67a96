internal import Base
internal import CommandSyntax
internal import Runs

extension ValueSyntax where Value == PortRange {
    /// `9000-9199`.
    static var portRange: ValueSyntax {
        .reading(
            "FIRST-LAST", wanted: "a range of ports",
            hint: "write it like 9000-9199; 0-0 takes any free ports"
        ) { text in
            let ends = text.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = UInt16(ends[0]), let last = UInt16(ends[1]),
                first <= last
            else { return nil }
            return PortRange(first: first, last: last)
        }
    }
}

extension ValueSyntax where Value == ClientSource {
    /// `NAME=PATH:LINE`.
    static var clientSource: ValueSyntax {
        .reading(
            "CLIENT=PATH[:LINE]", wanted: "a client and where it is written",
            hint: "write it like api=Sources/App/API.swift:42"
        ) { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
            return ClientSource(client: String(parts[0]), place: String(parts[1]))
        }
    }
}
