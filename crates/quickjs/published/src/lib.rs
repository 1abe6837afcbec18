//! Empty: this package only makes cargo download the published QuickJS.
