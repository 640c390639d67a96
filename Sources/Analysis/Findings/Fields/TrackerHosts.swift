internal import Base

/// Services whose purpose is to measure or to advertise: well-known ones, and those that the user
/// lists.
package struct TrackerHosts: Sendable {
    /// Where a host stands in a list.
    struct Entry: Hashable {
        /// The name that is listed: the host or a domain above it.
        let domain: [UInt8]
        let isOwnList: Bool
    }

    private var listed = Set<[UInt8]>()

    package init() {}

    /// The entry for a host: the host itself or a domain above it, by whole labels.
    func entry(for host: HostName) -> Entry? {
        guard !host.isAddress else { return nil }
        var rest = host.bytes[...]
        while rest.contains(0x2E) {
            let domain = Array(rest)
            if listed.contains(domain) { return Entry(domain: domain, isOwnList: true) }
            if Self.wellKnown.contains(domain) { return Entry(domain: domain, isOwnList: false) }
            rest = rest.drop { $0 != 0x2E }.dropFirst()
        }
        return nil
    }

    /// Adds the domains of a list, whatever of the published forms it has: one domain a line, a
    /// hosts file, Adblock Plus's `||domain^`, and the JSON of Disconnect, Privacy Badger and
    /// Tracker Radar.
    ///
    /// - Returns: how many names were added.
    @discardableResult
    package mutating func add(list text: [UInt8]) -> Int {
        let before = listed.count
        let start = text.first { $0 > 0x20 }
        if start == 0x7B || start == 0x5B {
            addJSON(text)
        } else {
            for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) { add(line: line) }
        }
        return listed.count - before
    }

    private mutating func add(line: ArraySlice<UInt8>) {
        var line = Array(line).trimmed[...]
        guard let first = line.first, ![0x21, 0x23, 0x5B, 0x40].contains(first) else { return }
        if line.starts(with: [0x7C, 0x7C]) {
            line = line.dropFirst(2)
            // Rules that hold for a part of a site, or for some sites, name no tracker.
            let end = line.firstIndex { !Self.isHostByte($0) } ?? line.endIndex
            let rest = line[end...]
            guard
                rest.isEmpty || rest.elementsEqual([0x5E])
                    || rest.elementsEqual(Array("^$third-party".utf8))
            else { return }
            return add(domain: line[..<end])
        }
        line = line.prefix { $0 != 0x23 }
        let words = line.split { $0 == 0x20 || $0 == 0x09 }
        guard let last = words.last, words.count <= 2 else { return }
        if words.count == 2, !HostName(authority: Array(words[0])).isAddress { return }
        add(domain: last)
    }

    /// Every name and string that is a host name counts: the forms differ in what is around.
    private mutating func addJSON(_ text: [UInt8]) {
        JSONScalars.read(text) { path, _, value in
            for name in path + [value] { add(domain: name[...]) }
            return listed.count < Self.limit
        }
    }

    private mutating func add(domain: ArraySlice<UInt8>) {
        guard listed.count < Self.limit, (4...253).contains(domain.count),
            domain.allSatisfy(Self.isHostByte), domain.first != 0x2E, domain.last != 0x2E,
            domain.contains(0x2E), domain.last?.isASCIILetter == true,
            !domain.contains(0x5F) || domain.first == 0x5F
        else { return }
        listed.insert(domain.lowercasedBytes)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2D || byte == 0x2E
    }

    /// How many names are kept.
    private static let limit = 200_000

    private static let wellKnown = Set(
        [
            "2mdn.net", "2o7.net", "33across.com", "abtasty.com", "adcolony.com", "adform.net",
            "adjust.com", "adnxs.com", "adroll.com", "adsafeprotected.com", "adsrvr.org",
            "advertising.com", "agkn.com", "amazon-adsystem.com", "amplitude.com",
            "app-measurement.com", "appcenter.ms", "applovin.com", "applvn.com", "appsflyer.com",
            "appsflyersdk.com", "bat.bing.com", "bidswitch.net", "bluekai.com",
            "bounceexchange.com",
            "braze.com", "branch.io", "bugsnag.com", "casalemedia.com", "chartbeat.com",
            "chartbeat.net", "chartboost.com", "clarity.ms", "clevertap-prod.com",
            "connect.facebook.net", "contentsquare.net", "cr-nielsen.com", "crazyegg.com",
            "criteo.com", "criteo.net", "crwdcntrl.net", "demdex.net", "doubleclick.net",
            "doubleverify.com", "everesttech.net", "exelator.com", "flashtalking.com",
            "flurry.com", "fullstory.com", "fyber.com", "google-analytics.com",
            "googleadservices.com", "googlesyndication.com", "googletagmanager.com",
            "googletagservices.com", "graph.facebook.com", "heapanalytics.com", "hotjar.com",
            "hotjar.io", "imrworldwide.com", "inmobi.com", "inner-active.mobi", "ironsrc.mobi",
            "is.com", "iterable.com", "kochava.com", "krxd.net", "liadm.com", "lijit.com",
            "liftoff.io", "localytics.com", "logrocket.com", "lr-in.com", "luckyorange.com",
            "mathtag.com", "matomo.cloud", "media.net", "mixpanel.com", "moatads.com",
            "mouseflow.com", "mparticle.com", "mxpnl.com", "newrelic.com", "nr-data.net",
            "omtrdc.net", "onesignal.com", "openx.net", "optimizely.com", "outbrain.com",
            "permutive.com", "pippio.com", "posthog.com", "pubmatic.com", "quantcount.com",
            "quantserve.com", "rayjump.com", "rlcdn.com", "rubiconproject.com", "sascdn.com",
            "scorecardresearch.com", "segment.com", "segment.io", "sharethrough.com",
            "singular.net", "smaato.net", "smartadserver.com", "snowplowanalytics.com",
            "stackadapt.com", "startappservice.com", "statcounter.com", "supersonicads.com",
            "taboola.com", "tapad.com", "tapjoy.com", "tapjoyads.com", "tealiumiq.com",
            "teads.tv", "tiqcdn.com", "tremorhub.com", "turn.com", "unityads.unity3d.com",
            "urbanairship.com", "vungle.com", "webtrends.com", "yieldmo.com", "zemanta.com",
        ].map { Array($0.utf8) })
}
