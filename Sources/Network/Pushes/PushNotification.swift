internal import Base
internal import Contents

/// What a push is for (`apns-push-type`).
package enum PushType: String, Sendable, CaseIterable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity
    case pushtotalk, widgets

    /// What the topic of such a push has behind the app's name.
    package var suffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        }
    }

    /// In bytes.
    package static func payloadLimit(_ type: PushType?) -> Int { type == .voip ? 5120 : 4096 }
}

/// A push that was accepted, on its way to a device.
package struct PushNotification: Sendable, Equatable {
    /// When it may wake the device.
    package enum Urgency: Sendable {
        /// At once.
        case immediate
        /// So often and no more; else with something that goes to the device anyway.
        case limited
        /// Only with something that goes to the device anyway.
        case passive
    }

    /// Counted from 1, in the order of acceptance.
    package let number: UInt64
    /// The `apns-id`.
    package let id: String
    package let token: String
    /// That of the app, without what a push type puts behind it.
    package let topic: String
    package let type: PushType?
    /// 10, 5 or 1.
    package let priority: Int
    package let collapseID: String?
    /// From when on it may not be delivered, in milliseconds since 1970.
    package let expiry: Int64
    /// Whether it may wait for the device; else it is delivered at once or not at all.
    package let isStorable: Bool
    /// Whether the user sees and hears nothing of it.
    package let isSilent: Bool
    package let payload: [UInt8]

    package init(
        number: UInt64, id: String = "", token: String = "", topic: String,
        type: PushType? = nil, priority: Int = 10, collapseID: String? = nil, expiry: Int64 = .max,
        isStorable: Bool = true, payload: [UInt8] = []
    ) {
        self.number = number
        self.id = id
        self.token = token
        self.topic = topic
        self.type = type
        self.priority = priority
        self.collapseID = collapseID
        self.expiry = expiry
        self.isStorable = isStorable
        self.payload = payload
        isSilent = type == .background || Self.isSilent(payload)
    }

    package var urgency: Urgency {
        priority == 1 ? .passive : priority == 5 || isSilent ? .limited : .immediate
    }

    /// Whether `aps` has `content-available` and neither alert, sound nor badge.
    private static func isSilent(_ payload: [UInt8]) -> Bool {
        guard let document = JSONDocument(payload),
            let aps = document.member("aps", of: JSONDocument.root),
            let flag = document.member("content-available", of: aps)
        else { return false }
        return document[flag].kind == .number && document.key(of: flag).elementsEqual("1".utf8)
            && document.member("alert", of: aps) == nil
            && document.member("sound", of: aps) == nil
            && document.member("badge", of: aps) == nil
    }

    /// The payload on one line; as a text if it is no JSON.
    package var payloadLine: [UInt8] {
        guard let document = JSONDocument(payload) else { return JSONText.bytes(payload).line }
        var line: [UInt8] = []
        document.append(JSONDocument.root, to: &line)
        return line
    }
}
