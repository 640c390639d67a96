internal import Base

/// What is done on one kind of device, in HTML.
struct DeviceSteps {
    let name: String
    /// What its browsers call it.
    let agents: [String]
    let steps: [String]
    let undo: String

    static func all(_ place: HostPort, _ certificate: DeviceCertificate) -> [DeviceSteps] {
        let script = MarkupText.escaped("http://\(place)/proxy.pac")
        return [
            apple, android, windows(script, certificate.sha1.hex), mac(script), firefox, linux,
            java,
        ]
    }

    private static let apple = DeviceSteps(
        name: "iPhone and iPad", agents: ["iPhone", "iPad"],
        steps: [
            "Settings → Wi-Fi → the <i>i</i> beside your network → Configure Proxy → Manual: enter"
                + " the server and the port.",
            "In Safari, load \(file(.profile)) and allow it.",
            "Settings → General → VPN &amp; Device Management → Sallyport → Install.",
            "Settings → General → About → Certificate Trust Settings → switch the certificate on."
                + " Without this step nothing trusts it.",
        ],
        undo: "remove the profile in VPN &amp; Device Management, and set Configure Proxy to Off.")

    private static let android = DeviceSteps(
        name: "Android", agents: ["Android"],
        steps: [
            "Settings → Network &amp; internet → your Wi-Fi → edit → Advanced → Proxy → Manual: enter"
                + " the server and the port.",
            "Load \(file(.crt)).",
            "Settings → Security → Encryption &amp; credentials → Install a certificate → CA"
                + " certificate → Install anyway, and choose the file.",
            "Browsers trust it now. Since Android 7 an app does only if its network security"
                + " configuration says so: <code>&lt;certificates src=\"user\"/&gt;</code>.",
        ],
        undo: "Settings → Security → Encryption &amp; credentials → Trusted credentials → User, and"
            + " set the network's proxy to None.")

    private static func windows(_ script: String, _ thumbprint: String) -> DeviceSteps {
        DeviceSteps(
            name: "Windows", agents: ["Windows"],
            steps: [
                "Settings → Network &amp; internet → Proxy → Use setup script:"
                    + " <code>\(script)</code>",
                "Load \(file(.cer)).",
                "Open it → Install Certificate → Current User → Place all certificates in the"
                    + " following store → Trusted Root Certification Authorities; or in a terminal:"
                    + " <code>certutil -user -addstore Root sallyport.cer</code>",
            ],
            undo: "<code>certutil -user -delstore Root \(thumbprint)</code>, and switch the setup"
                + " script off.")
    }

    private static func mac(_ script: String) -> DeviceSteps {
        DeviceSteps(
            name: "macOS", agents: ["Macintosh"],
            steps: [
                "System Settings → Network → your network → Details → Proxies → Automatic proxy"
                    + " configuration: <code>\(script)</code>",
                "Load \(file(.cer)).",
                "Open it, add it to the login keychain, and there set Trust to Always Trust; or in a"
                    + " terminal: <code>security add-trusted-cert -r trustRoot -k"
                    + " ~/Library/Keychains/login.keychain-db sallyport.cer</code>",
            ],
            undo: "<code>security remove-trusted-cert sallyport.cer</code>, delete it in Keychain"
                + " Access, and switch the configuration off.")
    }

    private static let firefox = DeviceSteps(
        name: "Firefox, which has a store of its own", agents: ["Firefox"],
        steps: [
            "Settings → Network Settings → Manual proxy configuration: enter the server and the port,"
                + " also for HTTPS.",
            "Open \(file(.crt)) in it, and choose to trust this CA to identify websites; or import it"
                + " in Settings → Privacy &amp; Security → View Certificates → Authorities.",
        ],
        undo: "delete it under Authorities, and go back to the system's proxy settings.")

    private static let linux = DeviceSteps(
        name: "Linux", agents: ["X11; Linux"],
        steps: [
            "Load \(file(.pem)).",
            "For Chromium: <code>certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n sallyport -i"
                + " sallyport.pem</code>",
            "For what uses the system's certificates, on Debian: copy it to"
                + " <code>/usr/local/share/ca-certificates/sallyport.crt</code> and call"
                + " <code>sudo update-ca-certificates</code>",
        ],
        undo:
            "<code>certutil -d sql:$HOME/.pki/nssdb -D -n sallyport</code>; remove the copy and call"
            + " <code>sudo update-ca-certificates --fresh</code>.")

    private static let java = DeviceSteps(
        name: "Java", agents: [],
        steps: [
            "Load \(file(.javaKeyStore)), a key store with this certificate alone.",
            "Start the program with <code>-Djavax.net.ssl.trustStore=sallyport.jks"
                + " -Djavax.net.ssl.trustStorePassword=\(DeviceCertificate.storePassword)</code>",
        ],
        undo: "start it without these options.")

    private static func file(_ form: DeviceCertificate.Form) -> String {
        "<a href=\"/\(form.rawValue)\">\(form.rawValue)</a>"
    }
}
