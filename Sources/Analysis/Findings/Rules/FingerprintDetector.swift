internal import Base
internal import Contents

/// FP-SCORE: how many users share what one service is told of a device, as an honest range.
struct FingerprintDetector {
    private struct Seen {
        let sighting: Sighting
        var attributes: Set<FingerprintAttribute>
    }

    private var services: [ServiceName: Seen] = [:]

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        var attributes = Set(
            view.requestFields.compactMap { field -> FingerprintAttribute? in
                guard !field.value.isEmpty, field.isScalar else { return nil }
                return FingerprintAttribute.named[field.key.lettersAndDigits]
            })
        // What each program says anyway counts, but is no reason to look.
        guard !attributes.isEmpty || services[view.service] != nil else { return }
        if view.request.first(named: "user-agent") != nil { attributes.insert(.userAgent) }
        if view.request.first(named: "accept-language") != nil { attributes.insert(.language) }
        if services[view.service] != nil {
            services[view.service]?.attributes.formUnion(attributes)
        } else if services.count < Self.limit {
            services[view.service] = Seen(sighting: evidence.sighting, attributes: attributes)
        }
    }

    func finish(population: Int) -> [LateMatch] {
        services.values.compactMap { seen in
            let told = seen.attributes.subtracting([.userAgent, .language])
            guard told.count >= Self.least else { return nil }
            let range = FingerprintRange(seen.attributes, population: population)
            var match = LateMatch(
                .fingerprintScore, .info, .tentative, at: seen.sighting.ofService)
            match.thirdPartySeverity = range.mostSharing < 1000 ? .high : .medium
            match.notes = [.privacy(.fingerprint(range))]
            match.notes += seen.attributes.sorted { $0.rawValue < $1.rawValue }.prefix(12).map {
                .privacy(.attribute($0))
            }
            return match
        }
    }

    /// How many attributes more than the usual ones make a fingerprint.
    private static let least = 3
    private static let limit = 1024
}

/// How far some attributes tell a user from the others of a population.
///
/// Bits of attributes that hang together must not be added: the range goes from the best single one
/// to the best of each group together.
package struct FingerprintRange: Sendable, Hashable {
    package let lowTenths: Int
    package let highTenths: Int
    /// How many users share it, at most and at least; 1 stands for a unique one.
    package let mostSharing: Int
    package let leastSharing: Int
    package let population: Int

    init(_ attributes: Set<FingerprintAttribute>, population: Int) {
        var groups: [FingerprintAttribute.Group: Int] = [:]
        for attribute in attributes {
            groups[attribute.group] = max(groups[attribute.group] ?? 0, attribute.tenthsOfBits)
        }
        lowTenths = groups.values.max() ?? 0
        highTenths = groups.values.reduce(0, +)
        self.population = max(1, population)
        mostSharing = Self.sharing(lowTenths, self.population)
        leastSharing = Self.sharing(highTenths, self.population)
    }

    var text: String {
        let count =
            leastSharing == mostSharing ? "\(mostSharing)" : "\(leastSharing) to \(mostSharing)"
        return "\(count) of \(population) users share it (\(lowTenths / 10).\(lowTenths % 10) to"
            + " \(highTenths / 10).\(highTenths % 10) bits, if attributes hung together or not)"
    }

    /// The population divided by two to the power of the bits.
    private static func sharing(_ tenths: Int, _ population: Int) -> Int {
        guard tenths < 600 else { return 1 }
        // 2^0.1 to the power of what is left of a whole bit.
        var rest = Double(population) / Double(UInt64(1) << UInt64(tenths / 10))
        for _ in 0..<tenths % 10 { rest /= 1.071773462536293 }
        return max(1, Int(rest))
    }
}

/// What a fingerprint is made of; the raw values are a contract. Bits are those of Eckersley 2010 and
/// Laperdrix 2016 for browsers, and estimates where none are published.
package enum FingerprintAttribute: String, Sendable, CaseIterable {
    case userAgent = "user agent"
    case systemBuild = "system build"
    case platform
    case model
    case screen
    case processors
    case memory
    case graphics = "graphics renderer"
    case canvas = "canvas hash"
    case audio = "audio hash"
    case timeZone = "time zone"
    case language
    case carrier
    case fonts
    case plugins
    case keyboards
    case accessibility
    case freeSpace = "free space"
    case diskSize = "disk size"
    case bootTime = "boot time"
    case battery
    case localAddress = "local address"

    enum Group { case software, hardware, place, configuration, volatile }

    var group: Group {
        switch self {
        case .userAgent, .systemBuild, .platform: .software
        case .model, .screen, .processors, .memory, .graphics, .canvas, .audio, .diskSize: .hardware
        case .timeZone, .language, .carrier: .place
        case .fonts, .plugins, .keyboards, .accessibility: .configuration
        case .freeSpace, .bootTime, .battery, .localAddress: .volatile
        }
    }

    var tenthsOfBits: Int {
        switch self {
        case .userAgent: 100
        case .plugins: 110
        case .fonts: 84
        case .canvas: 83
        case .language: 59
        case .screen: 48
        case .graphics: 34
        case .timeZone: 30
        case .platform: 23
        case .audio: 50
        case .systemBuild: 40
        case .model: 50
        case .processors, .accessibility: 20
        case .memory: 20
        case .carrier: 50
        case .keyboards: 60
        case .diskSize: 30
        case .battery: 70
        case .localAddress: 80
        case .freeSpace, .bootTime: 200
        }
    }

    /// By the names of fields.
    static let named: [String: FingerprintAttribute] = {
        let names: [FingerprintAttribute: [String]] = [
            .userAgent: ["useragent", "ua", "uastring"],
            .systemBuild: [
                "osversion", "osbuild", "systemversion", "buildversion", "osver", "osv",
            ],
            .platform: ["platform", "osname"],
            .model: ["devicemodel", "model", "machine", "hwmodel", "hardwaremodel", "devicetype"],
            .screen: [
                "screen", "screenwidth", "screenheight", "screenresolution", "resolution", "sw",
                "sh",
                "sr", "screensize", "pixelratio", "devicepixelratio", "colordepth", "screendpi",
            ],
            .processors: [
                "cpucores", "cpucount", "hardwareconcurrency", "processorcount", "cores",
            ],
            .memory: ["memory", "ram", "totalmemory", "devicememory", "physicalmemory", "memsize"],
            .graphics: ["webglrenderer", "webglvendor", "gpu", "renderer", "glrenderer"],
            .canvas: ["canvas", "canvashash", "canvasfp", "canvasfingerprint"],
            .audio: ["audiohash", "audiofp", "audiofingerprint"],
            .timeZone: ["timezone", "tz", "tzoffset", "timezoneoffset", "tzname", "utcoffset"],
            .language: ["language", "languages", "locale", "lang", "preferredlanguages"],
            .carrier: [
                "carrier", "carriername", "mcc", "mnc", "mccmnc", "networkoperator", "radio",
            ],
            .fonts: ["fonts", "fontlist", "installedfonts"],
            .plugins: ["plugins", "pluginlist", "mimetypes"],
            .keyboards: ["keyboards", "activekeyboards", "inputmodes"],
            .accessibility: [
                "voiceover", "boldtext", "fontscale", "accessibility", "reducemotion",
            ],
            .freeSpace: ["freespace", "diskfree", "freedisk", "availablestorage", "freestorage"],
            .diskSize: ["disksize", "totaldisk", "disktotal", "totalstorage", "disk"],
            .bootTime: [
                "boottime", "uptime", "systemuptime", "lastboot", "bootts", "systemboottime",
            ],
            .battery: ["battery", "batterylevel", "batterystate", "batterypercent"],
            .localAddress: ["localip", "lanip", "privateip", "localaddress", "internalip"],
        ]
        var table: [String: FingerprintAttribute] = [:]
        for (attribute, list) in names { for name in list { table[name] = attribute } }
        return table
    }()
}

extension RuleText {
    static let fingerprintScore = RuleText(
        title: "Attributes that make a fingerprint",
        reason: "together they single a user out without an identifier, and nobody can reset them",
        advice:
            "send less, and coarser: an offset for the zone, a language for the locale, a class for"
            + " the screen; never uptime or free space",
        decision:
            "A service got three or more attributes of the device besides those that every request"
            + " has. Bits are added between groups alone (Eckersley 2010: what attributes sum up to"
            + " is three times what they tell together).",
        exceptions:
            "Published bits are browsers', others are estimates, so it is always tentative; the"
            + " population is 100,000 unless it is told.",
        worst: .high,
        weaknesses: [359])
}
