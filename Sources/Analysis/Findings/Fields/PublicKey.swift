internal import Base
internal import Contents

/// Keys that are named like secrets and are public by design: whoever opens the page or the app has
/// them.
enum PublicKey {
    /// - Parameters:
    ///   - name: of the field, header or parameter that holds the value.
    ///   - service: where the value goes.
    static func matches(_ value: [UInt8], named name: [UInt8], at service: ServiceName) -> Bool {
        if PublishedPrefix(of: value)?.isPublishable == true { return true }
        guard let names = names[service.text] else { return false }
        return names.contains(name.lettersAndDigits)
    }

    /// What the providers document for use in browsers and apps, by their domains.
    private static let names: [String: Set<String>] = [
        "algolia.net": ["xalgoliaapikey", "apikey"],
        "algolianet.com": ["xalgoliaapikey", "apikey"],
        "amplitude.com": ["apikey", "key"],
        "bugsnag.com": ["apikey", "bugsnagapikey"],
        "contentful.com": ["accesstoken"],
        "datadoghq.com": ["ddapikey", "apikey"],
        "datadoghq.eu": ["ddapikey", "apikey"],
        "facebook.com": ["clienttoken"],
        "getsentry.com": ["sentrykey", "sentrysecret"],
        "google.com": ["k", "key", "sitekey"],
        "googleapis.com": ["key", "xgoogapikey"],
        "hcaptcha.com": ["sitekey"],
        "intercom.io": ["appid"],
        "loggly.com": ["token"],
        "logrocket.com": ["appid"],
        "mapbox.com": ["accesstoken"],
        "mixpanel.com": ["token", "apikey"],
        "mxpnl.com": ["token"],
        "nr-data.net": ["a", "apikey"],
        "onesignal.com": ["appid"],
        "posthog.com": ["apikey", "token"],
        "rollbar.com": ["accesstoken", "xrollbaraccesstoken"],
        "segment.io": ["writekey"],
        "sentry.io": ["sentrykey", "sentrysecret"],
        "split.io": ["apikey"],
        "storyblok.com": ["token"],
        "trackjs.com": ["token"],
    ]
}

extension [UInt8] {
    /// A name as it is looked up: in lower case, without what separates its words.
    var lettersAndDigits: String {
        var kept: [UInt8] = []
        kept.reserveCapacity(Swift.min(count, 64))
        for byte in prefix(64) where byte.isASCIILetter || byte.isASCIIDigit {
            kept.append(byte.asciiLowercased)
        }
        return kept.text
    }
}
