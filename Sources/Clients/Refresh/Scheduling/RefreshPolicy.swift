/// By what a scheduler decides; times are in milliseconds, likelihoods in thousandths.
package struct RefreshPolicy: Sendable, Equatable {
    /// By how much local time is ahead of UTC, in minutes.
    package var zoneMinutes = 0

    /// The least quiet period: so soon behind a fetch or a use, hardly anything is new.
    package var floor: Int64 = 300_000
    /// What the quiet period grows to while fetches find nothing.
    package var floorLimit: Int64 = 720_000
    /// How long others may join whoever was woken, while the radio is up.
    package var windowLength: Int64 = 120_000
    /// From the start of one window to that of the next.
    package var windowGap: Int64 = 240_000
    /// How many wakes run at once.
    package var parallelLimit = 4
    /// How many wakes of one app may be under way, when pushes come faster than it works.
    package var overlapLimit = 4
    /// How long a wake may last.
    package var wakeLimit: Int64 = 30_000
    /// In bytes: what one wake may fetch; larger things are for transfers.
    package var wakeByteLimit: Int64 = 2 << 20
    /// How much processor time one wake may take.
    package var wakeProcessorLimit: Int64 = 5_000

    /// How long an app is not woken behind the end of a transfer: others that end meanwhile need no
    /// wake of their own.
    package var transferGathering: Int64 = 2_000

    /// How long an app in use is not fetched for pushes behind a fetch for one: those that come
    /// meanwhile share the next. As long as a wake may last, so that pushes cost no more in use than
    /// in the background.
    package var deliveryGap: Int64 = 30_000

    /// How long before a predicted use it is fetched.
    package var lead: Int64 = 120_000
    /// From which likelihood on a quarter of an hour counts as one of use.
    package var likely = 300
    /// Up to which likelihood a quarter of an hour counts as one without.
    package var quiet = 40
    /// How often an app is woken in its quiet hours because the device is charged.
    package var chargingGap: Int64 = 14_400_000
    /// In percent: below it nothing is fetched unless the device is charged.
    package var batteryFloor = 15

    /// In bytes a day and app.
    package var cellularByteLimit: Int64 = 8 << 20
    package var wifiByteLimit: Int64 = 64 << 20
    /// How long an app's fetches may keep the radio up each day.
    package var radioLimit: Int64 = 2_700_000
    /// How long the radio stays up behind the last byte.
    package var radioTail: Int64 = 10_000

    /// The first pause behind a failure; it doubles with each, up to the limit.
    package var retryDelay: Int64 = 60_000
    package var retryLimit: Int64 = 7_200_000

    package init() {}
}
