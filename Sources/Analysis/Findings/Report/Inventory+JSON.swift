internal import Base

extension Inventory {
    var json: JSONText {
        [
            "exchanges": .integer(Int64(total.exchanges)),
            "requestBytes": .integer(total.requestBytes),
            "responseBytes": .integer(total.responseBytes),
            "services": .array(
                largestServices.map { Self.object("service", $0.service.text, $0.amount) }),
            "types": .array(
                Kind.allCases.compactMap { kind in
                    kinds[kind].map { Self.object("type", kind.rawValue, $0) }
                }),
            "protocols": .array(
                Version.allCases.compactMap { version in
                    versions[version].map { Self.object("protocol", version.rawValue, $0) }
                }),
        ]
    }

    private static func object(_ key: String, _ name: String, _ amount: Amount) -> JSONText {
        .object([
            .init(key, .string(name)), .init("exchanges", .integer(Int64(amount.exchanges))),
            .init("clearExchanges", .integer(Int64(amount.clearExchanges))),
            .init("requestBytes", .integer(amount.requestBytes)),
            .init("responseBytes", .integer(amount.responseBytes)),
        ])
    }

    /// In a line for people, `nil` if nothing was moved.
    var text: String? {
        guard total.exchanges > 0 else { return nil }
        let largest = largestServices.first.map {
            "; most by \($0.service.text), \(Quantity.text(byteCount: $0.amount.contentBytes))"
        }
        return "inventory: \(Quantity.text(services.count, "service")), "
            + "\(Quantity.text(byteCount: total.responseBytes)) received, "
            + "\(Quantity.text(byteCount: total.requestBytes)) sent"
            + (services.count > 1 ? largest ?? "" : "")
    }
}
