# A Rails application of pages: one with views and a database, one that sleeps, one that fails. Debian's packages, no bundler.
# Environment: RAILS_LOG=path, LOG_TAGS=1 (request ids in the log), LOG_PLAIN=1 (bare lines, without process or time),
# PAGES_POOL=connections to the database (16), PAGES_LOCK=1 (one request at a time in /locked).
ENV["RAILS_ENV"] ||= "production"
require "logger"
require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"

class PagesApp < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  config.eager_load = true
  config.secret_key_base = "0" * 64
  config.hosts.clear
  config.log_level = :info
  config.log_tags = [:request_id] if ENV["LOG_TAGS"] == "1"
  logger = ActiveSupport::Logger.new(ENV["RAILS_LOG"] || File::NULL)
  logger.formatter = ::Logger::Formatter.new unless ENV["LOG_PLAIN"] == "1"
  config.logger = ENV["LOG_PLAIN"] == "1" ? logger : ActiveSupport::TaggedLogging.new(logger)
  config.active_record.migration_error = false
  config.paths.add "config/database", with: File.join(__dir__, "pages.yml")
end

class Item < ActiveRecord::Base; end

LOCK = Mutex.new

class PagesController < ActionController::Base
  def show
    @items = Item.order(:id).limit(20).to_a
    render inline: "<h1>Item <%= params[:id] %></h1><% @items.each do |item| %><p><%= item.name %></p><% end %>"
  end

  def wait
    sleep params[:ms].to_f / 1000.0
    render plain: "waited\n"
  end

  # Holds a connection of the pool while it waits.
  def pooled
    ActiveRecord::Base.connection_pool.with_connection { sleep params[:ms].to_f / 1000.0 }
    render plain: "waited\n"
  end

  def locked
    wait_ms = params[:ms].to_f / 1000.0
    ENV["PAGES_LOCK"] == "1" ? LOCK.synchronize { sleep wait_ms } : sleep(wait_ms)
    render plain: "waited\n"
  end

  def fail
    raise "as asked"
  end
end

PagesApp.initialize!
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define { create_table(:items, force: true) { |table| table.string :name } }
50.times { |n| Item.create!(name: "item #{n}") }
PagesApp.routes.draw do
  get "/items/:id", to: "pages#show"
  get "/wait", to: "pages#wait"
  get "/pooled", to: "pages#pooled"
  get "/locked", to: "pages#locked"
  get "/fail", to: "pages#fail"
end
run PagesApp
