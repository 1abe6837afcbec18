# What puma, thin, unicorn and rackup start.
require_relative "app"
run StudyApp
