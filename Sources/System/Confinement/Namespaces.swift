internal import Base
internal import CPlatform
internal import Glibc

/// Takes this process into namespaces of its own; it must have one thread only.
enum Namespaces {
    /// Makes a network and a mount namespace, and a user namespace if they cannot be had without.
    ///
    /// The user namespace maps the caller's own user and group and no others: the command sees
    /// itself as whom it was started by, and loses what the namespace let it do when it is started.
    ///
    /// Errors: `namespaces-forbidden`.
    static func enter() throws(Failure) {
        let ours = platform_new_mounts | platform_new_network
        if geteuid() == 0, platform_unshare(ours) == 0 { return }
        let user = geteuid()
        let group = getegid()
        guard platform_unshare(ours | platform_new_users) == 0 else { throw refusal(errno) }
        // Without this, an unprivileged process may not map its group.
        for (name, text) in [
            ("setgroups", "deny"), ("uid_map", "\(user) \(user) 1"),
            ("gid_map", "\(group) \(group) 1"),
        ] {
            let number = write(text, to: "/proc/self/\(name)")
            if number != 0 && !(name == "setgroups" && number == ENOENT) { throw refusal(number) }
        }
    }

    /// - Returns: the error, 0 if there was none.
    private static func write(_ text: String, to path: String) -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        return unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count ? 0 : errno
    }

    /// The failure to tell, with who forbids it as far as the system says.
    static func refusal(_ number: Int32, step: String = "make namespaces") -> Failure {
        let (reason, hint) = culprit(number)
        return Failure(
            "namespaces-forbidden", party: .tool, "cannot \(step) for the command: \(reason)",
            hint: "\(hint); or run it without --capture-all, which captures what heeds the proxy"
                + " variables")
    }

    private static func culprit(_ number: Int32) -> (reason: String, hint: String) {
        if setting("user/max_user_namespaces") == "0" {
            return (
                "user.max_user_namespaces is 0",
                "as root: sysctl -w user.max_user_namespaces=15000"
            )
        }
        if setting("kernel/unprivileged_userns_clone") == "0", geteuid() != 0 {
            return (
                "kernel.unprivileged_userns_clone is 0",
                "as root: sysctl -w kernel.unprivileged_userns_clone=1"
            )
        }
        if setting("kernel/apparmor_restrict_unprivileged_userns") == "1" {
            return (
                "AppArmor restricts user namespaces",
                "as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give the"
                    + " tool's executable an AppArmor profile that allows userns"
            )
        }
        if status("Seccomp") == "2" {
            return (
                "a seccomp filter forbids it, as in most containers",
                "start the container with --security-opt seccomp=unconfined"
            )
        }
        let words = unsafe String(cString: strerror(number)).lowercased()
        return (words, "run it as root, or where user namespaces are allowed")
    }

    private static func setting(_ name: String) -> String? {
        text("/proc/sys/\(name)").map { $0.filter { !$0.isWhitespace } }
    }

    private static func status(_ name: String) -> String? {
        text("/proc/self/status")?.split(separator: "\n")
            .first { $0.hasPrefix("\(name):") }
            .map { $0.dropFirst(name.utf8.count + 1).filter { !$0.isWhitespace } }
    }

    /// `nil` where the system has no such file.
    private static func text(_ path: String) -> String? {
        do throws(Failure) {
            return String(decoding: try Files.read(path), as: UTF8.self)
        } catch {
            return nil
        }
    }
}
