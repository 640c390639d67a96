package import Base

/// A configuration profile of Apple's in the making, `.mobileconfig`.
package struct ConfigurationProfile {
    package static let mediaType = "application/x-apple-aspen-config"

    /// What a profile changes on a device; the keys that all payloads have are added when it is
    /// written.
    package struct Payload: Sendable {
        package let type: String
        /// Of this payload among those of the profile, for its identifier.
        package let name: String
        package let title: String
        package let description: String
        package let entries: [PropertyListText.Entry]

        package init(
            _ type: String, name: String, title: String, description: String = "",
            _ entries: [PropertyListText.Entry]
        ) {
            self.type = type
            self.name = name
            self.title = title
            self.description = description
            self.entries = entries
        }

        /// A CA that the device is to trust: `root` if it is the last of its chain.
        package static func authority(
            _ certificate: [UInt8], isRoot: Bool, title: String, description: String,
            file: String
        ) -> Payload {
            Payload(
                "com.apple.security.\(isRoot ? "root" : "pkcs1")", name: "certificate",
                title: title, description: description,
                [
                    PropertyListText.Entry("PayloadCertificateFileName", .string(file)),
                    PropertyListText.Entry("PayloadContent", .data(certificate)),
                ])
        }
    }

    /// In the form of a domain name from its end; one with the same takes the place of the first.
    package let identifier: String
    package let title: String
    package let description: String
    package let payloads: [Payload]
    /// Makes the UUID of the profile, `profile`, and those of its payloads by their names.
    private let uuid: (String) -> String

    package init(
        identifier: String, title: String, description: String, _ payloads: [Payload],
        uuid: @escaping (String) -> String
    ) {
        self.identifier = identifier
        self.title = title
        self.description = description
        self.payloads = payloads
        self.uuid = uuid
    }

    package var document: [UInt8] {
        let contents = payloads.map { payload in
            PropertyListText.dictionary(
                payload.entries
                    + common(
                        payload.type, "\(identifier).\(payload.name)", uuid(payload.name),
                        payload.title, payload.description))
        }
        return PropertyListText.dictionary(
            [PropertyListText.Entry("PayloadContent", .array(contents))]
                + common("Configuration", identifier, uuid("profile"), title, description)
                + [PropertyListText.Entry("PayloadRemovalDisallowed", false)]
        ).document
    }

    private func common(
        _ type: String, _ identifier: String, _ uuid: String, _ title: String,
        _ description: String
    ) -> [PropertyListText.Entry] {
        let texts = [
            ("PayloadDescription", description), ("PayloadDisplayName", title),
            ("PayloadIdentifier", identifier), ("PayloadType", type), ("PayloadUUID", uuid),
        ].filter { !$0.1.isEmpty }
        return texts.map { PropertyListText.Entry($0.0, .string($0.1)) }
            + [PropertyListText.Entry("PayloadVersion", 1)]
    }
}
