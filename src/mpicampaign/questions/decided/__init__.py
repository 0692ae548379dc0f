"""What have planned looks decided: `repeats: until decided`."""
