internal import CPlatform

/// The pages of the program's own code that are in memory.
package enum ResidentCode {
    /// Gives back the pages of code and constants that the start needed: the kernel maps far more
    /// than is used, and serving needs a third of it. What is used again comes from the page cache.
    package static func giveBack() {
        platform_drop_code()
    }
}
