internal import Base
package import HTTPModel

/// What becomes of one field of a head that is written with other values.
package enum FieldChange: Sendable {
    case keep
    case drop
    /// Kept as it was if the value could break out of its line.
    case value([UInt8])
}

/// What is changed of a head on its way: some fields, and the target of a request.
///
/// What frames a message, belongs to a connection or says whose the request is for is not changed by
/// it: a head that was sound is sound behind it, and its content is what it was.
package struct HeadChange: Sendable {
    /// The path with the query; `nil` for as it came.
    package let target: [UInt8]?
    private let fields: [(name: String, field: AddedField?)]

    /// - Parameters:
    ///   - target: begins with a slash.
    ///   - fields: by name, in any case; all of a name become one with the value, or none if it is
    ///     `nil`.
    /// - Returns: `nil` if a head cannot have that, or it is not to be changed here.
    package init?(
        target: [UInt8]? = nil, _ fields: [(name: String, value: [UInt8]?)]
    ) {
        if let target {
            guard target.first == 0x2F, target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 })
            else { return nil }
        }
        self.target = target
        // Of one that is named twice, the last counts.
        var checked: [(name: String, field: AddedField?)] = []
        for (name, value) in fields {
            guard let field = AddedField(name.utf8, value ?? []),
                Self.isFree(field.name)
            else { return nil }
            let name = name.lowercased()
            checked.removeAll { $0.name == name }
            checked.append((name, value == nil ? nil : field))
        }
        self.fields = checked
    }

    /// Whether a field of this name says nothing that the proxy itself decides on.
    private static func isFree(_ name: [UInt8]) -> Bool {
        let known = KnownField(name: name.span)
        switch known {
        case .contentLength, .expect, .host, .proxyAuthenticate, .proxyAuthorization: return false
        case .other: return !name[...].equalsIgnoringCase("http2-settings")
        default: return !known.isHopByHop
        }
    }

    /// The target in the place of another; `nil` for as it came, as every target does that is no path.
    package func target(insteadOf other: ArraySlice<UInt8>) -> [UInt8]? {
        other.first == 0x2F ? target : nil
    }

    /// - Parameter path: the request's target as it would go on.
    package func apply(to head: RequestHead, path: ArraySlice<UInt8>) -> RequestHead {
        head.rewritten(
            target: target(insteadOf: path), adding: added(to: head.fields), changes()) ?? head
    }

    package func apply(to head: ResponseHead) -> ResponseHead {
        head.rewritten(adding: added(to: head.fields), changes()) ?? head
    }

    private func added(to old: Fields) -> [AddedField] {
        let there = Set(old.slices.map { Self.name(old.name($0)) })
        return fields.compactMap { name, field in there.contains(name) ? nil : field }
    }

    private static func name(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map(\.asciiLowercased).text
    }

    /// What becomes of each field of a head, asked in their order.
    private func changes() -> (Fields, FieldSlice) -> FieldChange {
        var done: Set<String> = []
        return { fields, slice in
            let name = Self.name(fields.name(slice))
            guard let change = self.fields.first(where: { $0.name == name }) else { return .keep }
            guard let field = change.field, done.insert(name).inserted else { return .drop }
            return .value(field.value)
        }
    }
}

extension RequestHead {
    /// The same head with other values; `nil` if nothing of it changes.
    ///
    /// - Parameter target: `nil` for as it is.
    package func rewritten(
        target: [UInt8]? = nil, adding: [AddedField] = [],
        _ change: (Fields, FieldSlice) -> FieldChange
    ) -> RequestHead? {
        guard let target, !target.elementsEqual(self.target) else {
            return fields.rewritten(adding: adding, change).map { with($0, targetRange) }
        }
        let shift = target.count - targetRange.count
        let raw = raw[..<targetRange.lowerBound] + target + raw[targetRange.upperBound...]
        let moved = Fields(
            raw: Array(raw),
            slices: fields.slices.map { $0.moved(by: shift) })
        let range = targetRange.lowerBound..<targetRange.lowerBound + target.count
        return with(moved.rewritten(adding: adding, change) ?? moved, range)
    }

    private func with(_ fields: Fields, _ targetRange: Range<Int>) -> RequestHead {
        RequestHead(
            version: version, knownMethod: knownMethod, methodRange: methodRange,
            targetRange: targetRange, fields: fields)
    }
}

extension ResponseHead {
    /// The same head with other values; `nil` if nothing of it changes.
    package func rewritten(
        adding: [AddedField] = [], _ change: (Fields, FieldSlice) -> FieldChange
    ) -> ResponseHead? {
        fields.rewritten(adding: adding, change).map {
            ResponseHead(
                version: version, status: status, reasonRange: reasonRange, fields: $0,
                leniency: leniency)
        }
    }
}

extension Fields {
    /// Behind the same first line; `nil` if nothing changes.
    fileprivate func rewritten(
        adding: [AddedField], _ change: (Fields, FieldSlice) -> FieldChange
    ) -> Fields? {
        let start = slices.first.map { Int($0.nameStart) } ?? max(0, raw.count - 2)
        var lines = FieldLines(behind: Array(raw[..<start]), capacity: slices.count)
        var hasChanged = !adding.isEmpty
        for index in slices.indices {
            let slice = slices[index]
            let end = index + 1 < slices.count ? slices[index + 1].name.lowerBound : raw.count - 2
            switch change(self, slice) {
            case .value(let value)
            where !value.elementsEqual(self.value(slice))
                && !value.contains(where: \.isForbiddenInValue):
                hasChanged = true
                let value = value[...].trimmingWhitespace
                lines.append(slice.known, name(slice).span, value.span)
            case .drop: hasChanged = true
            case .keep, .value: lines.append(slice, of: self, until: end)
            }
        }
        guard hasChanged else { return nil }
        for field in adding {
            lines.append(KnownField(name: field.name.span), field.name.span, field.value.span)
        }
        return lines.finish()
    }
}
