package import Base
internal import Contents

/// What an app declares of the data that it collects: `PrivacyInfo.xcprivacy`, and the Bonjour
/// services of `Info.plist`. Several files add up.
package struct PrivacyManifest: Sendable {
    package private(set) var dataTypes: Set<DataType> = []
    /// In lower case.
    package private(set) var trackingDomains: Set<String> = []
    /// In lower case, without a final dot, such as `_ipp._tcp`.
    package private(set) var bonjourServices: Set<String> = []

    package init() {}

    /// Adds what a property list declares, in XML or binary.
    ///
    /// Errors: `manifest-invalid`.
    package mutating func add(_ bytes: [UInt8], path: String) throws(Failure) {
        let list = PropertyListReader.read(bytes)
        guard list.isWhole, !list.values.isEmpty else {
            throw Failure(
                "manifest-invalid", party: .tool, "cannot read \(path): it is no property list",
                hint: "give PrivacyInfo.xcprivacy or Info.plist")
        }
        for value in list.values where value.kind == .text {
            add(value.bytes, keys: value.path.map(\.text))
        }
    }

    private mutating func add(_ value: [UInt8], keys: [String]) {
        let text = value.lowercasedBytes.text
        switch keys.first {
        case "NSPrivacyTrackingDomains": trackingDomains.insert(text)
        case "NSBonjourServices":
            bonjourServices.insert(String(text.hasSuffix(".") ? text.dropLast() : text[...]))
        case "NSPrivacyCollectedDataTypes":
            let prefix = "NSPrivacyCollectedDataType"
            guard keys.last == prefix, value.text.hasPrefix(prefix),
                let type = DataType(rawValue: String(value.text.dropFirst(prefix.count)))
            else { return }
            dataTypes.insert(type)
        default: break
        }
    }

    /// Whether a domain, or one above it, is declared as one for tracking.
    func declares(_ host: HostName) -> Bool {
        var rest = host.text[...]
        while !rest.isEmpty {
            if trackingDomains.contains(String(rest)) { return true }
            rest = rest.drop { $0 != "." }.dropFirst()
        }
        return false
    }
}
