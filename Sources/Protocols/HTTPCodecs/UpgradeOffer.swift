internal import Base
package import HTTPModel

/// The protocols that a request offers to change over to (RFC 9110 §7.8).
package struct UpgradeOffer: Sendable {
    private let protocols: [ArraySlice<UInt8>]

    package static let none = UpgradeOffer(protocols: [])

    private init(protocols: [ArraySlice<UInt8>]) {
        self.protocols = protocols
    }

    /// What the fields of a request offer: nothing unless Connection lists `upgrade`, because an
    /// Upgrade without the option was not meant for the next hop.
    package init(of fields: Fields) {
        guard fields.contains(.upgrade), fields.contains(.connection, token: "upgrade") else {
            self = .none
            return
        }
        self.init(protocols: fields.all(.upgrade).flatMap(Self.elements))
    }

    /// What the fields of a request name, with the connection option or without: for who only looks
    /// on while two others switch.
    package init(namedIn fields: Fields) {
        self.init(protocols: fields.all(.upgrade).flatMap(Self.elements))
    }

    /// An offer of one protocol, such as `websocket`.
    package init(_ name: [UInt8]) {
        self.init(protocols: [name[...]])
    }

    package var isEmpty: Bool { protocols.isEmpty }

    package func contains(_ name: StaticString) -> Bool {
        protocols.contains { $0.equalsIgnoringCase(name) }
    }

    /// Whether a 101 names a protocol, and none that was not offered.
    package func isTaken(by head: ResponseHead) -> Bool {
        let chosen = head.fields.all(.upgrade).flatMap(Self.elements)
        return !chosen.isEmpty
            && chosen.allSatisfy { name in
                protocols.contains { Self.areEqual($0, name) }
            }
    }

    private static func elements(_ value: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        value.split(separator: 0x2C).map(\.trimmingWhitespace).filter { !$0.isEmpty }
    }

    private static func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}
